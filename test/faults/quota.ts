import { type Bills, type Campaign, type CampaignOptions, type Parts, runCampaign } from './engine.ts';
import { type FaultRow, type How, type InjectedFault, isServer } from './fault.ts';
import { sumOf } from './ledger.ts';

/** The allowances of new accounts: of a round's first rows, in which gateways are killed, and of the rows after them, in turn. */
const FIRST_ACCOUNTS = [[1, 5], [5], [1, 5], [5], [40, 3_000], [40, 3_000]];
const THEN_ACCOUNTS = [[300], [40], [1, 5]];
const ROWS_WITH_ACCOUNTS = 22;

/** What `--only` selects a row by. */
const NAMES: Record<Exclude<How, 'isolated'>, (fault: InjectedFault) => string> = {
  killed: ({ part }) => `kill -9 ${part}`,
  'killed unbilled': ({ part }) => `kill -9 ${part} cut off from NATS`,
  frozen: ({ part }) => `SIGSTOP ${part}`,
  restarted: ({ part }) => `restart ${part}`,
  'cut off': ({ part, from }) => `cut ${part} off from ${from ?? 'everything'}`,
};
/** The least and the most time for which a part is away. */
const AWAY_MS: Record<keyof typeof NAMES, readonly [number, number]> = {
  killed: [500, 2_000],
  'killed unbilled': [500, 2_000],
  frozen: [3_000, 8_000],
  restarted: [0, 0],
  'cut off': [8_000, 8_000],
};

/**
 * Drives accounts past their limits during faults, and compares the answers that callers saw with the bill. Returns the
 * violations.
 *
 * @param options `clusters`: uses three mongods and three nats-servers instead of one of each
 */
export function runQuota({
  clusters,
  ...options
}: CampaignOptions & { clusters: boolean }): Promise<string[]> {
  const campaign: Campaign = {
    stack: {
      gateways: 3,
      meterings: 2,
      clusters,
      say: options.say,
      canBeCutOff: { 'gateway-3': ['NATS'], 'metering-2': ['NATS', 'MongoDB', 'gateways'] },
    },
    unlimitedPerS: 18,
    leadInMs: 18_000,
    rows: (parts, round) => rows(parts, round, options.only),
    begin: async (parts) => {
      // This account is near its limit when the first gateway is killed.
      await parts.traffic.open(300, 15);
      return { check: (billed) => differences(parts, billed) };
    },
  };
  return runCampaign(campaign, options);
}

/**
 * Returns the rows of a round whose names contain `only`. The first round begins with the kills of gateways, so that their grants are
 * settled by its end.
 */
function rows({ stack, random }: Parts, round: number, only: string): FaultRow[] {
  const gateways = stack.gateways.map(({ name }) => name);
  const others = stack.names.filter((name) => !gateways.includes(name));
  const each = (how: keyof typeof NAMES, parts: readonly string[], from?: 'NATS') =>
    parts.map((part) => ({ part, how, from }));
  const first = random.shuffled([...each('killed', gateways), ...each('killed unbilled', ['gateway-3'])]);
  const rest = [
    ...each('killed', others),
    ...each('frozen', stack.names),
    ...each('restarted', others.filter(isServer)),
    ...each('cut off', ['gateway-3'], 'NATS'),
    ...each('cut off', ['metering-2']),
  ];
  const faults = round === 0 ? [...first, ...random.shuffled(rest)] : random.shuffled([...first, ...rest]);
  const wanted = faults.filter((fault) => NAMES[fault.how](fault).includes(only));
  return wanted.map((fault, slot) => ({
    name: NAMES[fault.how](fault),
    faults: [fault],
    losesGrants: fault.how.startsWith('killed') && gateways.includes(fault.part),
    awayMs: random.between(...AWAY_MS[fault.how]),
    before: slot < ROWS_WITH_ACCOUNTS ? (FIRST_ACCOUNTS[slot] ?? THEN_ACCOUNTS[slot % 3] ?? []) : [],
  }));
}

/** Checks that /v1/usage and `bds usage` show the same as metering's admin port. */
async function differences({ stack, client, traffic }: Parts, billed: Bills): Promise<string[]> {
  interface Usage {
    pools: { used: number; breakdown: { count: number }[] }[];
  }
  const lines: string[] = [];
  for (const [index, account] of traffic.accounts.entries()) {
    const gateway = stack.gateways[index % stack.gateways.length];
    const outcome = await client.get(`${gateway?.url}/v1/usage?token=${account.token}`);
    const told: Usage = outcome.kind === 'answered' ? JSON.parse(outcome.body.toString()) : { pools: [] };
    const bds = (await stack.bds('usage', account.accountId)) as Usage;
    const wanted = billed.get(account)?.used ?? 0;
    for (const [who, { pools }] of Object.entries({ '/v1/usage': told, 'bds usage': bds })) {
      const { used = 0, breakdown = [] } = pools[0] ?? {};
      const inBreakdown = sumOf(breakdown.map(({ count }) => count));
      if (used !== wanted || inBreakdown !== wanted)
        lines.push(
          `account ${account.name}: ${who} shows ${used} calls and a breakdown of ${inBreakdown}, but ${wanted} are billed`,
        );
    }
  }
  return lines;
}
