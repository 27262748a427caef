import { expect, test, vi } from 'vitest';
import { Output } from '../src/terminal/output.ts';
import { progressLine } from '../src/text/reports.ts';

test('progress shows the rate, the percentage and the time left, as far as they are known', () => {
  expect(progressLine({ read: 12_000, created: 11_000, refused: 3 }, { read: 25, total: 100 }, 4)).toBe(
    '12,000 read, 3,000 a second, 25 %, 12 s left; 11,000 created, 3 refused',
  );
  expect(progressLine({ read: 10 }, { read: 500, total: 0 }, 3_700)).toBe('10 read, 0 a second');
  expect(progressLine({}, { read: 1, total: 2 }, 7_200)).toBe('0 read, 50 %, 2 h 0 min left');
});

test('progress at a terminal is one line that is replaced and finally removed; elsewhere nothing is written in the first minute', async () => {
  const written: string[] = [];
  const stderr = { isTTY: true, columns: 20, write: (text: string) => written.push(text) };
  const terminal = new Output({ stdout: stderr, stderr }, () => false);
  await vi.waitFor(() => {
    terminal.progress(() => 'a line that is longer than the terminal is wide');
    expect(written).toEqual(['\r\u001b[Ka line that is long']);
  }, 30_000);
  terminal.progress();
  expect(written.join('').endsWith('\r\u001b[K')).toBe(true);

  const silent: string[] = [];
  const log = { write: (text: string) => silent.push(text) };
  const elsewhere = new Output({ stdout: log, stderr: log }, () => false);
  elsewhere.progress(() => 'a line');
  elsewhere.progress();
  expect(silent).toEqual([]);
});
