import { type Clock, Fault, type ReplicaChoice } from '@brand-data/runtime';
import { createVirtualClock } from '@brand-data/testing/virtual-clock';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hedge, type ReplicaPreference } from '../src/upstream/hedge.ts';

const WITHIN_MS = 1_000;
const away = () => new Fault('unavailable', 'no answer in time');

/** The outcome of each attempt in turn. undefined: the attempt hangs until its deadline. */
type Fate = { afterMs: number; ends: 'answer' | 'refusal' | 'away' } | undefined;

const cannotBeReached: Fate = { afterMs: 1, ends: 'away' };

function replicas(clock: Clock, fates: readonly Fate[]) {
  const sent: number[] = [];
  const asked: number[] = [];
  const send = async (withinMs: number, replica: ReplicaChoice): Promise<number> => {
    const attempt = sent.push(withinMs) - 1;
    asked.push(replica.attempt);
    const fate = fates[attempt];
    await clock.sleep(Math.min(fate?.afterMs ?? Number.POSITIVE_INFINITY, withinMs));
    if (!fate || fate.afterMs > withinMs || fate.ends === 'away') throw away();
    if (fate.ends === 'refusal') throw new Fault('failed_precondition', 'refused');
    return attempt;
  };
  return { send, sent, asked };
}

async function ask(fates: readonly Fate[]) {
  const clock = createVirtualClock(0);
  const { send, sent } = replicas(clock, fates);
  const ended: { atMs: number; answer?: number; error?: unknown }[] = [];
  void hedge(clock, WITHIN_MS, { key: 'account' }, send).then(
    (answer) => ended.push({ atMs: clock.now().monotonicMs, answer }),
    (error: unknown) => ended.push({ atMs: clock.now().monotonicMs, error }),
  );
  await clock.advance(3 * WITHIN_MS);
  const [end, ...others] = ended;
  if (!end || others.length > 0) throw new Error('it did not end once');
  return { ...end, sent };
}

describe('a hedged request', () => {
  test('goes to another replica soon if the first one hangs', async () => {
    for (let hanging = 0; hanging <= 3; hanging++) {
      const fates: Fate[] = [...Array<Fate>(hanging).fill(undefined), { afterMs: 5, ends: 'answer' }];
      const { answer, atMs } = await ask(fates);
      expect(answer).toBe(hanging);
      expect(atMs).toBeLessThanOrEqual(hanging * 300 + 5);
    }
  });

  test('goes first to the replica that answered last, and after some seconds to its own first replica again', async () => {
    const clock = createVirtualClock(0);
    const preference: ReplicaPreference = { key: 'account' };
    const asking = async (fates: readonly Fate[]): Promise<number[]> => {
      const { send, asked } = replicas(clock, fates);
      void hedge(clock, WITHIN_MS, preference, send).catch(() => {});
      await clock.advance(WITHIN_MS);
      return asked;
    };
    const answers: Fate = { afterMs: 5, ends: 'answer' };
    expect(await asking([answers])).toEqual([0]);
    expect(await asking([undefined, undefined, answers])).toEqual([0, 1, 2]);
    expect(await asking([answers])).toEqual([2]);
    expect(await asking([cannotBeReached, cannotBeReached])).toEqual([2, 3]);
    expect(await asking([{ afterMs: 1, ends: 'refusal' }])).toEqual([3]);
    await clock.advance(10_000);
    expect(await asking([answers])).toEqual([0]);
  });

  test('goes to another replica at once when the first cannot be reached', async () => {
    const { answer, atMs } = await ask([cannotBeReached, { afterMs: 5, ends: 'answer' }]);
    expect({ answer, atMs }).toEqual({ answer: 1, atMs: 6 });
  });

  test('is sent only once if the answer comes at once', async () => {
    expect((await ask([{ afterMs: 200, ends: 'answer' }])).sent).toHaveLength(1);
  });

  test('tells with each attempt which ones are not answered yet, so that no replica gets a second copy', async () => {
    const clock = createVirtualClock(0);
    const { send } = replicas(clock, [undefined, cannotBeReached, undefined, { afterMs: 5, ends: 'answer' }]);
    const choices: ReplicaChoice[] = [];
    const answer = hedge(clock, WITHIN_MS, { key: 'account' }, (withinMs, replica) => {
      choices.push(replica);
      return send(withinMs, replica);
    });
    await clock.advance(WITHIN_MS);
    expect(await answer).toBe(3);
    const others = choices.map((choice) => choice.others?.map((other) => choices.indexOf(other)));
    expect(others).toEqual([[], [0], [0], [0, 2]]);
  });

  test('also accepts a slow answer of the replica that was asked first', async () => {
    expect(await ask([{ afterMs: 700, ends: 'answer' }])).toMatchObject({ answer: 0, atMs: 700 });
  });

  test('fails at once if no replica can be reached, and at its deadline if none answers', async () => {
    expect(await ask([cannotBeReached, cannotBeReached])).toMatchObject({ error: away(), atMs: 2 });
    expect(await ask([])).toMatchObject({ error: away(), atMs: WITHIN_MS });
  });

  test('ends in time with the first answer or refusal, whatever the other attempts return', async () => {
    const fate = fc.option(
      fc.record({
        afterMs: fc.integer({ min: 1, max: 1_500 }),
        ends: fc.constantFrom('answer' as const, 'refusal' as const, 'away' as const),
      }),
      { nil: undefined },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fate, { maxLength: 4 }), async (fates) => {
        const { sent, atMs, answer, error } = await ask(fates);
        expect(atMs).toBeLessThanOrEqual(WITHIN_MS);
        const answeredAt = sent.flatMap((leftMs, attempt) => {
          const given = fates[attempt];
          return given && given.ends !== 'away' && given.afterMs <= leftMs
            ? [WITHIN_MS - leftMs + given.afterMs]
            : [];
        });
        if (answeredAt.length > 0) expect(atMs).toBe(Math.min(...answeredAt));
        else expect(error).toEqual(away());
        if (answer !== undefined) expect(fates[answer]?.ends).toBe('answer');
      }),
    );
  });
});
