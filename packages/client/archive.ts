import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const BLOCK = 512;
/** The time of all files, in seconds since 1970: npm's own. Zip files, into which pip puts them, hold none before 1980. */
const TIME = 499_162_500;

/**
 * Returns files of a folder as a gzipped tar archive (POSIX.1-1988 ustar). The same files give the same bytes, on every machine:
 * nothing is compressed, because builds of zlib do so in different ways.
 *
 * @param top the one folder of the archive, in which the files are
 * @param paths relative to the folder; with `top` at most 100 bytes long
 */
export function archiveOf(folder: string, top: string, paths: readonly string[]): Buffer {
  const blocks = paths.toSorted().flatMap((path) => {
    const body = readFileSync(join(folder, path));
    return [headerOf(`${top}/${path}`, body.length), body, Buffer.alloc(-body.length & (BLOCK - 1))];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 0 });
}

function headerOf(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long for the archive`);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, '0');
  header.write(name);
  header.write(octal(0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(TIME, 12), 136);
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)}\0`, 148);
  return header;
}
