import { parseArgs } from 'node:util';
import { runAllChanges } from './changes.ts';
import { ROWS, runElections } from './elections.ts';
import { type CampaignOptions, runCampaign } from './engine.ts';
import { runFailOvers } from './fail-overs.ts';
import type { FaultRow } from './fault.ts';
import { runHostile } from './hostile.ts';
import { OUTAGE_NAMES, outageCampaign, outages } from './outages.ts';
import { runQuota } from './quota.ts';
import { runUpgrades, VERSION_BEFORE } from './upgrades.ts';

const USAGE = `npm run faults -- quota [--minutes M] [--seed S] [--settle-minutes M] [--only TEXT] [--clusters]
  drives accounts past their limits while it kills, freezes and cuts off every process in turn, and compares the answers
  that callers saw with the bill
  --minutes M         repeat the faults until M minutes are over (default 4)
  --seed S            repeat the order of the faults of an earlier run
  --settle-minutes M  wait up to M minutes for the permits of killed gateways (default 3)
  --only TEXT         run only the faults whose names contain TEXT
  --clusters          use three mongods and three nats-servers
npm run faults -- outages [--seconds S] [ROW…]
  takes each part away for S seconds (default 30) under a steady load
  ROW                 run only the rows whose names begin with ROW:
  ${OUTAGE_NAMES.join(', ')}
npm run faults -- elections [--minutes M] [--seed S] [--settle-minutes M] [--only TEXT] | --fail-overs N
  kills, freezes and cuts off leaders and followers of three mongods and three nats-servers, gateways and metering
  replicas, while it drives accounts past their limits: each row once, then again until M minutes are over
  --only TEXT         run only the rows whose names contain TEXT
  --fail-overs N      instead kill MongoDB's primary N times under 500 grants a second, and count the grants whose usage
                      metering refused or did not bill
npm run faults -- upgrades [--from COMMIT] [--seed S] [--settle-minutes M] [--only TEXT]
  replaces the processes of an earlier version one by one under load, services first and gateways first, and rolls back
  --from COMMIT       the earlier version (default ${VERSION_BEFORE.slice(0, 7)})
npm run faults -- hostile [--inputs N] [--seed S] [--only INPUT]
  sends N hostile HTTP inputs (default 50000) and N / 5 hostile gRPC inputs to all ports while honest callers make calls
  --seed S            repeat the inputs of an earlier run
  --only INPUT        send only one of these inputs, such as "http 17"
npm run faults -- changes
  measures how long every gateway takes to apply changes of plans, keys and accounts, also when notices are lost
`;
const VIOLATIONS_LISTED = 200;

const say = (line: string) => process.stdout.write(`${line}\n`);

let violations: string[];
try {
  violations = await runCommand(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exit(1);
}
for (const line of violations.slice(0, VIOLATIONS_LISTED)) say(`VIOLATION ${line}`);
if (violations.length > VIOLATIONS_LISTED) say(`and ${violations.length - VIOLATIONS_LISTED} more`);
process.exit(violations.length === 0 ? 0 : 1);

function runCommand(args: string[]): Promise<string[]> {
  const { values, positionals } = readArguments(args);
  const number = (
    name: 'minutes' | 'seed' | 'settle-minutes' | 'fail-overs' | 'seconds' | 'inputs',
    most: number,
  ) => {
    const value = Number(values[name]);
    return value > 0 && value <= most
      ? value
      : wrongUsage(`--${name}: write a number above 0 and at most ${most}`);
  };
  const { only, clusters, from } = values;
  const options = (): CampaignOptions => {
    const seed = Math.floor(number('seed', 2 ** 32 - 1));
    const [minutes, settleMinutes] = [number('minutes', 1_440), number('settle-minutes', 120)];
    say(`seed ${seed}`);
    return { minutes, seed, only, settleMinutes, say };
  };
  const [what, ...names] = positionals;
  if (what === 'outages') {
    const unknown = names.find((name) => !OUTAGE_NAMES.some((known) => known.startsWith(name)));
    if (unknown !== undefined) return wrongUsage(`there is no row "${unknown}"`);
    const awayMs = number('seconds', 3_600) * 1_000;
    const isWanted = ({ name }: FaultRow) =>
      names.length === 0 || names.some((each) => name.startsWith(each));
    // A gateway holds permits in advance for 30 s of the traffic that it has seen, so it must see the traffic for a while.
    const campaign = outageCampaign(Math.min(60_000, awayMs * 2), outages(awayMs).filter(isWanted));
    return runCampaign(campaign, { ...options(), minutes: 0 });
  }
  if (names.length > 0) return wrongUsage(`unknown argument "${names[0]}"`);
  if (what === 'quota') return runQuota({ ...options(), clusters });
  if (what === 'elections' && values['fail-overs'] !== undefined)
    return runFailOvers(Math.floor(number('fail-overs', 1_000)), say);
  if (what === 'elections') {
    if (!ROWS.some(({ name }) => name.includes(only)))
      return wrongUsage(`--only: no row's name contains "${only}"`);
    return runElections(options());
  }
  if (what === 'upgrades') return runUpgrades({ ...options(), from });
  if (what === 'hostile')
    return runHostile({ ...options(), inputs: Math.floor(number('inputs', 100_000_000)) });
  if (what === 'changes') return runAllChanges(say);
  return wrongUsage('give the name of a run: quota, outages, elections, upgrades, hostile or changes');
}

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        minutes: { type: 'string', default: '4' },
        seed: { type: 'string', default: String(1 + (Date.now() % 100_000)) },
        'settle-minutes': { type: 'string', default: '3' },
        only: { type: 'string', default: '' },
        'fail-overs': { type: 'string' },
        from: { type: 'string', default: VERSION_BEFORE },
        clusters: { type: 'boolean', default: false },
        seconds: { type: 'string', default: '30' },
        inputs: { type: 'string', default: '50000' },
      },
    });
  } catch (error) {
    return wrongUsage((error as Error).message);
  }
}

function wrongUsage(why: string): never {
  process.stderr.write(`${why}\n\n${USAGE}`);
  process.exit(2);
}
