import type { Reporter } from 'vitest/node';
import { table } from '../catalogue/table.ts';
import { readResults } from './results.ts';

/** Ends a run with a table of results.json, so that a run of all benches leaves their ratios on one screen. */
export default class ResultsTable implements Reporter {
  onTestRunEnd(): void {
    const rows = readResults().map(({ name, ratio, goal, baseline, spread }) => [
      name,
      ratio >= goal ? `${ratio}` : `${ratio} (short)`,
      `${spread[0]} to ${spread[1]}`,
      String(goal),
      baseline,
    ]);
    process.once('exit', () => {
      process.stdout.write(`\n${table(['comparison', 'ratio', 'spread', 'goal', 'baseline'], rows)}\n`);
    });
  }
}
