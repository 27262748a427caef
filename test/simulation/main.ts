import { parseArgs } from 'node:util';
import type { Violation } from './invariants.ts';
import { ALL_RULES, isRuleName, RULE_NAMES, type RuleName, WITHOUT } from './rules.ts';
import { planOf } from './seed-plan.ts';
import type { SeedResult } from './seed-worker.ts';
import { runSeeds } from './seeds.ts';
import { simulate } from './simulate.ts';

const USAGE = `npm run simulate -- --seeds N [--from S] [--without RULE]
npm run simulate -- --seed S [--without RULE]
npm run simulate -- --list-rules`;
const TELL_EVERY_MS = 10_000;

const { values } = readArguments();
const violations = await main();
process.exitCode = violations > 0 ? 1 : 0;

async function main(): Promise<number> {
  if (values['list-rules']) {
    print(RULE_NAMES.join('\n'));
    return 0;
  }
  const { without } = values;
  if (without !== undefined && !isRuleName(without)) {
    return giveUp(`there is no rule "${without}"; there are: ${RULE_NAMES.join(', ')}`);
  }
  if (values.seed !== undefined) return replay(numberOf('seed', values.seed), without);
  if (values.seeds === undefined) return giveUp(USAGE);
  return runAll(values.seeds, without);
}

async function replay(seed: number, without: RuleName | undefined): Promise<number> {
  const { history, violations } = await simulate(planOf(seed), without ? WITHOUT[without] : ALL_RULES, true);
  print(history.join('\n'));
  print('');
  return close(1, [{ seed, violations }]);
}

async function runAll(count: string, without: RuleName | undefined): Promise<number> {
  const from = numberOf('from', values.from);
  const seeds = Array.from({ length: numberOf('seeds', count) }, (_, at) => from + at);
  const violated: SeedResult['violated'] = [];
  const startedAt = performance.now();
  let toldAt = startedAt;
  let done = 0;
  await runSeeds(seeds, without, (part, result) => {
    done += part.length;
    violated.push(...result.violated);
    for (const { seed, violations } of without ? [] : result.violated) {
      for (const { invariant, atMs, text } of violations) {
        print(`seed ${seed}, ${(atMs / 1_000).toFixed(3)} s: ${invariant}: ${text}`);
      }
    }
    if (performance.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = performance.now();
    const seconds = Math.round((toldAt - startedAt) / 1_000);
    process.stderr.write(`${done} of ${seeds.length} seeds, ${seconds} s\n`);
  });
  return close(seeds.length, violated);
}

/** Prints one line for each invariant that was violated, and the last line. */
function close(seeds: number, violated: { seed: number; violations: readonly Violation[] }[]): number {
  const broken = new Map<string, number[]>();
  for (const { seed, violations } of violated) {
    for (const invariant of new Set(violations.map((violation) => violation.invariant))) {
      broken.set(invariant, [...(broken.get(invariant) ?? []), seed]);
    }
  }
  for (const [invariant, where] of [...broken].sort()) {
    where.sort((a, b) => a - b);
    print(`"${invariant}" in ${where.length} of ${seeds} seeds, the first is ${where[0]}`);
  }
  const sum = [...broken.values()].reduce((total, where) => total + where.length, 0);
  print(`seeds ${seeds}, violations ${sum}`);
  return sum;
}

function numberOf(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) giveUp(`--${name} is a whole number`);
  return Number(text);
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        seeds: { type: 'string' },
        from: { type: 'string', default: '1' },
        seed: { type: 'string' },
        without: { type: 'string' },
        'list-rules': { type: 'boolean' },
      },
    });
  } catch (error) {
    return giveUp(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function giveUp(line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(2);
}
