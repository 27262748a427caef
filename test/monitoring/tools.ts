import { spawnSync } from 'node:child_process';
import { findTool } from '@brand-data/testing/tools';

/** Prometheus and promtool, from the PATH or fetched. undefined: tests that need the program are skipped. */
export const promtool = findTool('promtool');
export const prometheus = findTool('prometheus');

const missing = Object.entries({ promtool, prometheus }).flatMap(([name, path]) => (path ? [] : [name]));
if (missing.length > 0)
  process.stderr.write(
    `\nSKIPPED: tests of alerts and dashboards that need ${missing.join(' and ')}: deploy/chart/test/get-tools fetches them, and Debian's package "prometheus" has them\n`,
  );

/** Runs promtool to its end. `output` is what it printed. */
export function runPromtool(args: string[], input?: string): { isGood: boolean; output: string } {
  const { status, stdout, stderr } = spawnSync(promtool ?? '', args, { input, encoding: 'utf8' });
  return { isGood: status === 0, output: stdout + stderr };
}
