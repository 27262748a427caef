import { expect, test } from 'vitest';
import { simulateNearLimit } from './near-limit.ts';

const ALLOWANCE = 40_000;
const CONNECTIONS = 256;
/** The longest time that a call may take, from far from the limit up to the last permit. */
const LONGEST_ALLOWED_MS = 2_000;

const spreadEvenly = (gateways: number) => (connection: number) => connection % gateways;
/** All callers of one gateway move to the other gateways when a fifth of the allowance is left. */
const movedOn = (gateways: number) => (connection: number, left: number) =>
  left > 0.2 ? 0 : 1 + (connection % (gateways - 1));

test.each([
  { gateways: 2, failing: 0, name: 'evenly', gatewayOf: spreadEvenly },
  { gateways: 5, failing: 0.2, name: 'evenly', gatewayOf: spreadEvenly },
  { gateways: 20, failing: 0.05, name: 'evenly', gatewayOf: spreadEvenly },
  { gateways: 2, failing: 0, name: 'moving from one to another', gatewayOf: movedOn },
  { gateways: 20, failing: 0, name: 'moving from one to the others', gatewayOf: movedOn },
])(
  'near the limit, over $gateways gateways ($name), no call fails for lack of a permit, and all permits are used',
  async ({ gateways, failing, gatewayOf }) => {
    const { answers, billed } = await simulateNearLimit({
      seed: gateways,
      gateways,
      connections: CONNECTIONS,
      allowance: ALLOWANCE,
      failing,
      gatewayOf: gatewayOf(gateways),
    });
    const kinds = Map.groupBy(answers, ({ kind }) => kind);
    expect(kinds.get('permit')).toBeUndefined();
    expect(kinds.get('unsure')).toBeUndefined();
    expect(kinds.get('counted')).toHaveLength(ALLOWANCE);
    expect(kinds.get('exhausted')).toHaveLength(CONNECTIONS);
    expect(billed).toBe(ALLOWANCE);
    const longestMs = answers.reduce((longest, { tookMs }) => Math.max(longest, tookMs), 0);
    expect(longestMs).toBeLessThan(LONGEST_ALLOWED_MS);
  },
  60_000,
);
