import { setTimeout as delay } from 'node:timers/promises';
import type { PoolUsage } from '@brand-data/contracts';
import type { Random } from '@brand-data/testing/random';
import { type CampaignOptions, inRounds, type Parts, runCampaign, seconds } from './engine.ts';
import { cutOff, frozen, isServer, killed, killedUnbilled, type ProcessFault, restarted } from './fault.ts';
import { listed } from './ledger.ts';
import type { FaultStack } from './stack.ts';
import type { Failure, TrafficAccount, Window } from './traffic.ts';

const LEAD_IN_MS = 18_000;
const QUIET_MS = 2_500;
/** For each fault of a round, the allowances of the new accounts whose calls begin before the fault. */
const NEW_ACCOUNTS: number[][] = [
  [1, 5],
  [5],
  [1, 5],
  [5],
  [40, 3_000],
  [40, 3_000],
  [300],
  [40],
  [1, 5],
  [300],
  [40],
  [5],
  [300],
  [40],
  [1],
  [40],
  [300],
  [40],
  [1, 5],
  [40],
  [1],
  [40],
];

/**
 * Drives accounts past their limits during faults, and compares the answers that callers saw with the bill. Returns the
 * violations.
 *
 * @param options `clusters`: uses three mongods and three nats-servers instead of one of each
 */
export function runQuota(options: CampaignOptions & { clusters: boolean }): Promise<string[]> {
  const { say, clusters } = options;
  return runCampaign(
    {
      stack: {
        gateways: 3,
        meterings: 2,
        clusters,
        say,
        canBeCutOff: { 'gateway-3': ['NATS'], 'metering-2': ['NATS', 'MongoDB', 'gateways'] },
      },
      unlimitedPerS: 18,
      judgesWindows: true,
      async suffer(parts) {
        await sufferAll(parts, options);
        return { check: (billed) => differences(parts, billed) };
      },
    },
    options,
  );
}

async function sufferAll(parts: Parts, options: CampaignOptions): Promise<void> {
  const { stack, traffic, random, say } = parts;
  // This account is near its limit when the first gateway is killed.
  await traffic.open(300, 15);
  await delay(LEAD_IN_MS);
  const ofRound = (round: number) => faultsOfRound(stack, random, round);
  await inRounds(parts, options, ofRound, async (fault, slot) => {
    for (const allowance of NEW_ACCOUNTS[slot] ?? []) await traffic.open(allowance, rateOf(allowance));
    await delay(QUIET_MS);
    const window = await traffic.suffer(fault, forMsOf(fault, random));
    say(windowLine(traffic.windows.length, window, traffic.failures));
  });
}

/**
 * Returns the faults of a round. The first round begins with the kills of gateways, so that their grants are settled by its end.
 */
function faultsOfRound(stack: FaultStack, random: Random, round: number): ProcessFault[] {
  const gateways = stack.gateways.map(({ name }) => name);
  const others = stack.names.filter((name) => !gateways.includes(name));
  const first = random.shuffled([...gateways.map(killed), killedUnbilled('gateway-3')]);
  const rest = [
    ...others.map(killed),
    ...stack.names.map(frozen),
    ...others.filter(isServer).map(restarted),
    cutOff('gateway-3', 'NATS'),
    cutOff('metering-2'),
  ];
  return round === 0 ? [...first, ...random.shuffled(rest)] : random.shuffled([...first, ...rest]);
}

function rateOf(allowance: number): number {
  if (allowance >= 3_000) return 25;
  return allowance >= 300 ? 12 : 6;
}

function forMsOf({ name }: ProcessFault, random: Random): number {
  if (name.startsWith('SIGSTOP')) return random.between(3_000, 8_000);
  return name.startsWith('cut') ? 8_000 : random.between(500, 2_000);
}

/** Checks that /v1/usage and `bds usage` show the same as metering's admin port. */
async function differences(
  { stack, client, traffic }: Parts,
  billed: ReadonlyMap<TrafficAccount, PoolUsage>,
): Promise<string[]> {
  interface Usage {
    pools: { used: number; breakdown: { count: number }[] }[];
  }
  const figuresOf = ({ pools }: Usage) => {
    const [{ used, breakdown } = { used: 0, breakdown: [] }] = pools;
    return { used, inBreakdown: breakdown.reduce((sum, { count }) => sum + count, 0) };
  };
  const lines: string[] = [];
  for (const [index, account] of traffic.accounts.entries()) {
    const gateway = stack.gateways[index % stack.gateways.length];
    const outcome = await client.get(`${gateway?.url}/v1/usage?token=${account.token}`);
    const told: Usage = outcome.kind === 'answered' ? JSON.parse(outcome.body.toString()) : { pools: [] };
    const bds = (await stack.bds('usage', account.accountId)) as Usage;
    const wanted = billed.get(account)?.used ?? 0;
    for (const [who, usage] of [['/v1/usage', told] as const, ['bds usage', bds] as const]) {
      const { used, inBreakdown } = figuresOf(usage);
      if (used !== wanted || inBreakdown !== wanted)
        lines.push(
          `account ${account.name}: ${who} shows ${used} calls and a breakdown of ${inBreakdown}, but ${wanted} are billed`,
        );
    }
  }
  return lines;
}

function windowLine(number: number, window: Window, failures: readonly Failure[]): string {
  const { fault, beganMs, endedMs, overMs, calls } = window;
  const times = `${seconds(beganMs)} to ${seconds(endedMs)} (${seconds(overMs)})`;
  const failed = window.failures.size === 0 ? 'no failures' : `failures: ${listed(window.failures)}`;
  const unallowed = failures.filter((failure) => failure.window === window).length;
  const more = unallowed === 0 ? '' : `; ${unallowed} of them not allowed`;
  return `${String(number).padStart(3)}  ${fault.name.padEnd(36)} ${times.padEnd(28)} ${calls} calls, ${failed}${more}`;
}
