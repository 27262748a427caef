import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test.each([
  [['elections', '--only', 'no such row'], 'no row\'s name contains "no such row"'],
  [['elections', '--fail-overs', 'many'], '--fail-overs: write a number'],
  [['outages', 'moon'], 'no row "moon"'],
  [['quota', '--hours', '2'], "Unknown option '--hours'"],
])('npm run faults -- %j starts nothing, says what is wrong, and ends with status 2', (args, says) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'main.ts'), ...args],
    {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '--conditions=source' },
      timeout: 60_000,
    },
  );
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(says);
  expect(stderr).toContain('npm run faults -- elections');
});
