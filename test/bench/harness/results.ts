import { readFileSync, writeFileSync } from 'node:fs';
import type { Reporter } from 'vitest/node';
import type { Comparison, Spread } from './in-turns.ts';

/** One comparison of results.json. */
interface Result {
  name: string;
  /** The median of the rounds; near the limit, that of the slowest phase. The larger, the better. */
  ratio: number;
  /** The ratio that is aimed at. */
  goal: number;
  /** With what the ratio compares. */
  baseline: string;
  /** The lowest and the highest. */
  spread: [number, number];
}

const FILE = new URL('../results.json', import.meta.url);
const rounded = (figure: number) => Math.round(figure * 1_000) / 1_000;

/** Notes a comparison in results.json, in place of an earlier one of the same name. */
export function noteResult(
  name: string,
  { median, lowest, highest }: Spread,
  { goal, baseline }: Pick<Result, 'goal' | 'baseline'>,
): void {
  const spread: Result['spread'] = [rounded(lowest), rounded(highest)];
  const others = readResults().filter((other) => other.name !== name);
  const all = [...others, { name, ratio: rounded(median), goal, baseline, spread }];
  all.sort((a, b) => (a.name < b.name ? -1 : 1));
  writeFileSync(FILE, `${JSON.stringify(all, undefined, 2)}\n`);
}

/** Returns the comparisons that were measured last, by name. */
function readResults(): Result[] {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return [];
  }
}

/** Ends a run with a table of results.json, so that a run of all benches leaves their ratios on one screen. */
export class ResultsTable implements Reporter {
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

/** Returns the median with the lowest and the highest in brackets. */
export const shown = (digits: number, { median, lowest, highest }: Spread) =>
  `${median.toFixed(digits)} (${lowest.toFixed(digits)}–${highest.toFixed(digits)})`;

/** Returns the lines that a bench prints of a comparison. The last one has the ratios. */
export function linesOf(what: string, baseline: string, comparison: Comparison): string[] {
  const side = (name: string, { callsPerSecond, micros, p99 }: Comparison['subject']) =>
    `  ${name}: ${shown(0, callsPerSecond)} calls/s, ${shown(1, micros)} µs of processor time a call, p99 ${shown(1, p99)} ms`;
  return [
    `${what}, medians and ranges of the rounds:`,
    side('measured', comparison.subject),
    side(baseline, comparison.baseline),
    `  ratio by processor time ${shown(2, comparison.ratioOfProcessorTime)}, by calls a second ${shown(2, comparison.ratioOfCalls)}`,
  ];
}

export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heading.map((text, column) =>
    Math.max(text.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(heading), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en');
