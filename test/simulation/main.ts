import { parseArgs } from 'node:util';
import { ALL_RULES, isRuleName, RULE_NAMES, type RuleName, WITHOUT } from './rules.ts';
import { planOf } from './seed-plan.ts';
import { runSeeds, type SeedResult } from './seeds.ts';
import { simulate } from './simulate.ts';

const USAGE = `npm run simulate -- --seeds N [--from S] [--without RULE]
npm run simulate -- --seed S [--without RULE]
npm run simulate -- --list-rules`;
const TELL_EVERY_MS = 10_000;

const values = readArguments();
const violations = await main();
process.exitCode = violations > 0 ? 1 : 0;

async function main(): Promise<number> {
  if (values['list-rules']) {
    console.log(RULE_NAMES.join('\n'));
    return 0;
  }
  const { without } = values;
  if (without !== undefined && !isRuleName(without))
    return giveUp(`there is no rule "${without}"; there are: ${RULE_NAMES.join(', ')}`);
  if (values.seed !== undefined) return replay(numberOf('seed', values.seed), without);
  if (values.seeds === undefined) return giveUp(USAGE);
  return runAll(values.seeds, without);
}

async function replay(seed: number, without: RuleName | undefined): Promise<number> {
  const rules = without ? WITHOUT[without] : ALL_RULES;
  const { history, violations } = await simulate(planOf(seed), rules, true);
  console.log(`${history.join('\n')}\n`);
  return close([{ seed, violations }]);
}

async function runAll(count: string, without: RuleName | undefined): Promise<number> {
  const from = numberOf('from', values.from);
  const seeds = Array.from({ length: numberOf('seeds', count) }, (_, at) => from + at);
  const results: SeedResult[] = [];
  const startedAt = performance.now();
  let toldAt = startedAt;
  await runSeeds(seeds, without, (result) => {
    results.push(result);
    for (const { invariant, atMs, text } of without ? [] : result.violations)
      console.log(`seed ${result.seed}, ${(atMs / 1_000).toFixed(3)} s: ${invariant}: ${text}`);
    if (performance.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = performance.now();
    const seconds = Math.round((toldAt - startedAt) / 1_000);
    process.stderr.write(`${results.length} of ${seeds.length} seeds, ${seconds} s\n`);
  });
  return close(results);
}

/** Prints one line for each invariant that was violated, and the last line. Returns the number of violations. */
function close(results: SeedResult[]): number {
  const violated = results
    .toSorted((a, b) => a.seed - b.seed)
    .flatMap(({ seed, violations }) =>
      [...new Set(violations.map(({ invariant }) => invariant))].map((invariant) => ({ seed, invariant })),
    );
  for (const [invariant, where] of [...Map.groupBy(violated, ({ invariant }) => invariant)].sort())
    console.log(
      `"${invariant}" in ${where.length} of ${results.length} seeds, the first is ${where[0]?.seed}`,
    );
  console.log(`seeds ${results.length}, violations ${violated.length}`);
  return violated.length;
}

function numberOf(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) giveUp(`--${name} is a whole number`);
  return Number(text);
}

function readArguments() {
  try {
    const options = {
      seeds: { type: 'string' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      without: { type: 'string' },
      'list-rules': { type: 'boolean' },
    } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    return giveUp(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  }
}

function giveUp(line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(2);
}
