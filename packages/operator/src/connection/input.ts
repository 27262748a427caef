import { readSync } from 'node:fs';
import { isatty } from 'node:tty';
import { UsageError } from './failures.ts';

const STDIN = 0;
const LONGEST_LINE = 4_096;
const AGAIN_AFTER_MS = 20;

/**
 * Reads one line of standard input and nothing after it, so that the credential may stand before a token. Empty: the input is. Throws
 * UsageError if a terminal would show the line.
 */
export function inputLine(): string {
  if (isatty(STDIN))
    throw new UsageError('a terminal would show what you type: give standard input from a file or a program');
  const line = Buffer.alloc(LONGEST_LINE);
  let length = 0;
  while (length < LONGEST_LINE && readByte(line, length) && line[length] !== 0x0a) length++;
  return line.toString('utf8', 0, length);
}

/** Returns whether there was a byte. */
function readByte(into: Buffer, at: number): boolean {
  for (;;) {
    try {
      return readSync(STDIN, into, at, 1, null) === 1;
    } catch (error) {
      // Another program may have made the pipe non-blocking.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_AFTER_MS);
    }
  }
}
