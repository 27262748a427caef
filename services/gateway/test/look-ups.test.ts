import type { CatalogServiceClient, LookupRequest, LookupResponse } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { replicaNamed } from '@brand-data/runtime/src/grpc/replica-order.ts';
import { grpcStatusOf } from '@brand-data/runtime/src/grpc/status.ts';
import { createVirtualClock } from '@brand-data/testing/virtual-clock';
import { describe, expect, test } from 'vitest';
import { LookupBatches } from '../src/records/look-ups.ts';

const WITHIN_MS = 2_000;

const missed = ({ queries }: LookupRequest): LookupResponse => ({
  results: queries.map(() => ({ suggestions: [], namesSuperinvestor: false, leftOut: false, keys: [] })),
});

/** An attempt while each connected replica has the request already. The channel refuses it. */
const NO_OTHER = -1;

/**
 * Look-ups at a stand-in for catalog, whose replicas answer after so many milliseconds, in the order in which they are asked.
 * NO_OTHER: there was no other replica to ask at that attempt.
 */
function setUp(answersAfterMs: readonly number[]) {
  const clock = createVirtualClock(0);
  /** The attempt that each request names, by the request's key. */
  const asked = new Map<string, number[]>();
  let requests = 0;
  const lookup = async (
    request: LookupRequest,
    metadata: Parameters<typeof replicaNamed>[0],
    _options: unknown,
    callback: (error: object | null, response?: LookupResponse) => void,
  ) => {
    const replica = replicaNamed(metadata) ?? { key: '', attempt: -1 };
    const { key, attempt } = replica;
    asked.set(key, [...(asked.get(key) ?? []), attempt]);
    const afterMs = answersAfterMs[requests++] ?? Number.POSITIVE_INFINITY;
    if (afterMs === NO_OTHER) return callback(grpcStatusOf(new Fault('unavailable', 'no other replica')));
    replica.address = `replica ${attempt}`;
    await clock.sleep(afterMs);
    callback(null, missed(request));
  };
  const lookUps = new LookupBatches({ lookup } as unknown as CatalogServiceClient, {
    withinMs: WITHIN_MS,
    clock,
    onBatch: () => {},
    tracer: undefined,
  });
  const answeredAtMs = async () => {
    const answer = lookUps.lookup({ identifier: 'acme', superinvestors: true, suggest: false });
    const told = answer.then(() => clock.now().monotonicMs);
    await clock.advance(WITHIN_MS);
    return told;
  };
  return { asked, answeredAtMs };
}

describe('a look-up', () => {
  test('is answered by another replica soon if the first one hangs', async () => {
    const { asked, answeredAtMs } = setUp([Number.POSITIVE_INFINITY, 5]);
    expect(await answeredAtMs()).toBeLessThanOrEqual(500);
    expect([...asked.values()]).toEqual([[0, 1]]);
  });

  test('is sent once if the answer comes soon, and at most twice if catalog is slow', async () => {
    const prompt = setUp([5]);
    await prompt.answeredAtMs();
    expect([...prompt.asked.values()]).toEqual([[0]]);
    const slow = setUp([1_500, 1_500, 0]);
    expect(await slow.answeredAtMs()).toBe(1_500);
    expect([...slow.asked.values()]).toEqual([[0, 1]]);
  });

  test('is answered by a replica that connects again while the only other one hangs', async () => {
    const hangs = Number.POSITIVE_INFINITY;
    const { asked, answeredAtMs } = setUp([hangs, NO_OTHER, NO_OTHER, NO_OTHER, 5, 5]);
    expect(await answeredAtMs()).toBe(1_205);
    expect([...asked.values()]).toEqual([[0, 1, 2, 3, 4]]);
  });
});
