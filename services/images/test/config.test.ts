import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test.each([
  ['0', '0'],
  ['1048575', '1.5'],
  ['2000000.5', '17'],
])(
  'a cache of %s bytes and %s workers are refused at the start, each with its reason',
  async (bytes, workers) => {
    const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
    const child = spawn(process.execPath, [main], {
      env: { PATH: process.env.PATH, IMAGE_CACHE_BYTES: bytes, IMAGE_WORKERS: workers },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(code).toBe(1);
    expect(output).toContain('\n  IMAGE_CACHE_BYTES: must be a whole number of bytes, at least 1048576 (');
    expect(output).toContain(`\n  IMAGE_WORKERS: Value "${workers}" not in choices [1,2,`);
  },
);
