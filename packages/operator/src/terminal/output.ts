import { printable, printableLine } from '../text/printable.ts';

export interface Streams {
  /** If `write` returns false, the reader has room for more when `once` calls the listener. */
  stdout: { write(text: string): unknown; once?(event: 'drain', listener: () => void): unknown };
  stderr: { write(text: string): unknown; isTTY?: boolean; columns?: number };
}

const TERMINAL_MS = 200;
const ELSEWHERE_MS = 60_000;

/** Parts of a text, one below the other. Undefined parts are left out. */
export type Text = string | undefined | readonly Text[];

function linesOf(text: Text): string[] {
  if (text === undefined) return [];
  return typeof text === 'string' ? [text] : text.flatMap(linesOf);
}

/** Writes a command's answer: as text for people, or as one JSON document. No data in it can control the terminal. */
export class Output {
  readonly #stdout: Streams['stdout'];
  readonly #stderr: Streams['stderr'];
  readonly #asJson: () => boolean;
  #shownAt = performance.now();
  #isShown = false;

  constructor({ stdout, stderr }: Streams, asJson: () => boolean) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#asJson = asJson;
  }

  /** Writes the answer. `text` is called only if the answer is written as text. */
  answer(document: unknown, text: () => Text): void {
    this.text(this.#asJson() ? JSON.stringify(document, null, 2) : linesOf(text()).join('\n'));
  }

  /** Writes some of many answers: one JSON document a line, or all as one text. */
  lines(documents: readonly unknown[], text: () => string): void {
    this.text(this.#asJson() ? documents.map((document) => JSON.stringify(document)).join('\n') : text());
  }

  /** Writes a text, which may be for programs, such as CSV. */
  text(text: string): void {
    this.#stdout.write(`${printable(text)}\n`);
  }

  /** Writes a part of a long text for programs. Resolves when the reader has room for more, so the text is never kept in memory. */
  async stream(text: string): Promise<void> {
    const stdout = this.#stdout;
    if (stdout.write(printable(text)) !== false) return;
    await new Promise<void>((resolve) => (stdout.once ? stdout.once('drain', resolve) : resolve()));
  }

  /**
   * Shows the progress of a long command on stderr. At a terminal it replaces the last line, at most five times a second.
   * Elsewhere it writes one line a minute. `progress()` ends it.
   */
  progress(line?: () => string): void {
    const stderr = this.#stderr;
    if (line === undefined) {
      if (this.#isShown && stderr.isTTY) stderr.write('\r\u001b[K');
      this.#isShown = false;
    } else if (performance.now() - this.#shownAt >= (stderr.isTTY ? TERMINAL_MS : ELSEWHERE_MS)) {
      // The terminal would wrap a longer line, and only its last part could be replaced.
      const width = (stderr.columns ?? 80) - 1;
      const shown = printableLine(line());
      stderr.write(stderr.isTTY ? `\r\u001b[K${shown.slice(0, width)}` : `${shown}\n`);
      this.#shownAt = performance.now();
      this.#isShown = true;
    }
  }

  /** Writes to stderr, at once, what the operator has to do while the command continues. */
  notice(line: string): void {
    this.progress();
    this.#stderr.write(`bds: ${printableLine(line)}\n`);
  }
}
