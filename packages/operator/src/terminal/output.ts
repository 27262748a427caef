import { printable, printableLine } from '../text/printable.ts';

/** Writes a command's answer: as text for people, or as one JSON document. No data in it can control the terminal. */
export interface Output {
  /** Writes the answer. `text` is called only if the answer is written as text. */
  answer(document: unknown, text: () => string): void;
  /** Writes some of many answers: one JSON document a line, or all as one text. */
  lines(documents: readonly unknown[], text: () => string): void;
  /** Writes a text that is for programs, such as CSV. */
  text(text: string): void;
  /** Writes a part of a long text for programs. Resolves when the reader has room for more, so the text is never kept in memory. */
  stream(text: string): Promise<void>;
  /**
   * Shows the progress of a long command on stderr. At a terminal it replaces the last line, at most five times a second.
   * Elsewhere it writes one line a minute. `progress()` ends it.
   */
  progress(line?: () => string): void;
}

export interface Streams {
  /** If `write` returns false, the reader has room for more when `once` calls the listener. */
  stdout: { write(text: string): unknown; once?(event: 'drain', listener: () => void): unknown };
  stderr: { write(text: string): unknown; isTTY?: boolean; columns?: number };
}

const TERMINAL_MS = 200;
const ELSEWHERE_MS = 60_000;

export function outputTo({ stdout, stderr }: Streams, asJson: () => boolean): Output {
  const everyMs = stderr.isTTY ? TERMINAL_MS : ELSEWHERE_MS;
  let shownAt = performance.now();
  let isShown = false;
  return {
    answer(document, text) {
      stdout.write(`${printable(asJson() ? JSON.stringify(document, null, 2) : text())}\n`);
    },
    lines(documents, text) {
      const json = () => documents.map((document) => JSON.stringify(document)).join('\n');
      stdout.write(`${printable(asJson() ? json() : text())}\n`);
    },
    text(text) {
      stdout.write(`${printable(text)}\n`);
    },
    async stream(text) {
      if (stdout.write(printable(text)) !== false) return;
      await new Promise<void>((resolve) => (stdout.once ? stdout.once('drain', resolve) : resolve()));
    },
    progress(line) {
      if (line === undefined) {
        if (isShown && stderr.isTTY) stderr.write('\r\u001b[K');
        isShown = false;
      } else if (performance.now() - shownAt >= everyMs) {
        // The terminal would wrap a longer line, and only its last part could be replaced.
        const width = (stderr.columns ?? 80) - 1;
        const shown = printableLine(line());
        stderr.write(stderr.isTTY ? `\r\u001b[K${shown.slice(0, width)}` : `${shown}\n`);
        shownAt = performance.now();
        isShown = true;
      }
    },
  };
}
