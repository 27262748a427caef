import { setImmediate } from 'node:timers/promises';
import {
  type AccountChanged,
  type AccountsServiceClient,
  type Credential,
  createToken,
  Route,
  TokenRefusal,
  tokenCheckKeyFrom,
  tokenSha256,
  type VerifyTokenRequest,
  type VerifyTokenResponse,
} from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { StreamProgress } from '../src/auth/stream-progress.ts';
import { Tokens } from '../src/auth/tokens.ts';
import { manualClock, outOfReach, unaryMethod } from './stand-ins.ts';

const MINUTE_MS = 60_000;

type Outcome = VerifyTokenResponse['outcome'];

const credentialOf = (keyId: string, expiresAtMs?: number, accountId = 'acct'): Outcome => ({
  $case: 'credential',
  value: {
    keyId,
    accountId,
    plan: 'paid',
    allowedOrigins: [],
    routes: [],
    limitRevision: 1,
    expiresAtMs,
    allowance: '',
    allowanceUntilMs: 0,
  },
});
const revoked: Outcome = { $case: 'refusal', value: TokenRefusal.REVOKED };

/** Tokens with a stand-in for accounts. Its keys are in one map, and the test can make it unavailable. */
function setUp<C extends Pick<StreamProgress, 'allArrivedSince'>>(
  changesOf: (clock: Pick<Clock, 'now'>) => C,
) {
  const clock = manualClock();
  const outcomes = new Map<string, Outcome>();
  const state = { isUp: true, asked: 0, askedMs: [] as number[], checkKeys: [] as Buffer[] };
  const verifyToken = unaryMethod(async (request: VerifyTokenRequest): Promise<VerifyTokenResponse> => {
    state.asked += 1;
    state.askedMs.push(clock.now().monotonicMs);
    if (!state.isUp) return outOfReach();
    const outcome = outcomes.get(Buffer.from(request.tokenSha256).toString('hex'));
    return { outcome, tokenCheckKeys: state.checkKeys };
  });
  const accounts = { verifyToken } as unknown as AccountsServiceClient;
  const changes = changesOf(clock);
  const tokens = new Tokens(accounts, { changes, clock, entries: 1_000 });
  const put = (outcome: Outcome, token = createToken()) => {
    outcomes.set(Buffer.from(tokenSha256(token)).toString('hex'), outcome);
    return token;
  };
  return { clock, state, changes, tokens, put };
}

const verify = async (tokens: Tokens, token: string, address = '192.0.2.1') =>
  tokens.verify(token, () => address);
const progressOf = (clock: Pick<Clock, 'now'>) => new StreamProgress(clock);
const vouched = () => ({ allArrivedSince: () => true });
const notVouched = () => ({ allArrivedSince: () => false });
const changeOf = (keyId: string): AccountChanged => ({
  subject: { $case: 'keyId', value: keyId },
  revision: 1,
});

/**
 * Returns a model of the stream and of the consumer that delivers it to all gateways. The stream has the messages that a majority has
 * stored. They come late, and may be lost on their way to this gateway.
 */
function streamTo(progress: StreamProgress, invalidate: (change: AccountChanged) => void) {
  type Message = { beat: string } | { change: AccountChanged };
  const log: Message[] = [];
  let delivered = 0;
  const next = () => (delivered < log.length ? log[delivered++] : undefined);
  return {
    publish: (message: Message) => log.push(message),
    reconnect: () => progress.lost(),
    lose: () => void next(),
    /** Returns false if there are no more messages. */
    deliver: () => {
      const message = next();
      if (!message) return false;
      progress.arrived(delivered);
      if ('beat' in message) progress.returned(message.beat);
      else invalidate(message.change);
      return true;
    },
  };
}

const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('well' as const), beats: fc.nat(6) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(1_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('call' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('beat' as const), lost: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('deliver' as const) }) },
  fc.record({ kind: fc.constant('lose' as const) }),
  fc.record({ kind: fc.constant('reconnect' as const) }),
  fc.record({ kind: fc.constant('revoke' as const), key: fc.nat(1) }),
);

describe('a cached token', () => {
  test('is refused a second after its revocation was confirmed, even if messages are late or lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), async (steps) => {
        const { changes, clock, tokens, put } = setUp(progressOf);
        const held = ['k0', 'k1'].map((keyId) => ({ keyId, token: put(credentialOf(keyId)) }));
        const revokedAtMs = new Map<string, number>();
        const stream = streamTo(changes, (change) => tokens.invalidate(change));
        const call = async ({ keyId, token }: { keyId: string; token: string }) => {
          const verified = await verify(tokens, token);
          const sinceMs = clock.now().monotonicMs - (revokedAtMs.get(keyId) ?? Number.POSITIVE_INFINITY);
          if (sinceMs >= 1_000) expect(verified).toEqual({ refusal: TokenRefusal.REVOKED });
          if (sinceMs < 0) expect(verified).toHaveProperty('credential');
        };
        for (const next of steps) {
          if (next.kind === 'advance') clock.advance(next.ms);
          else if (next.kind === 'call') for (const key of held) await call(key);
          else if (next.kind === 'beat') {
            const beat = changes.beat();
            if (beat !== undefined && !next.lost) stream.publish({ beat });
          } else if (next.kind === 'well') {
            for (let beats = 0; beats < next.beats; beats++) {
              stream.publish({ beat: changes.beat() ?? 'none' });
              while (stream.deliver());
              clock.advance(300);
            }
          } else if (next.kind === 'revoke') {
            const key = held[next.key];
            if (!key || revokedAtMs.has(key.keyId)) continue;
            put(revoked, key.token);
            revokedAtMs.set(key.keyId, clock.now().monotonicMs);
            stream.publish({ change: changeOf(key.keyId) });
          } else stream[next.kind]();
        }
      }),
      { numRuns: 500 },
    );
  });

  test('of a deleted account is forgotten with all that accounts has said of it, and others are not', async () => {
    const { tokens, put, state } = setUp(progressOf);
    const [gone, kept] = [put(credentialOf('k0')), put(credentialOf('k1', undefined, 'other'))];
    for (const token of [gone, kept]) await verify(tokens, token);
    tokens.invalidate({ subject: { $case: 'accountId', value: 'acct' }, revision: 1, deleted: true });
    expect(tokens.cacheStats().entries).toBe(1);
    put({ $case: 'refusal', value: TokenRefusal.UNKNOWN }, gone);
    expect(await verify(tokens, gone)).toEqual({ refusal: TokenRefusal.UNKNOWN });
    expect(await verify(tokens, kept)).toHaveProperty('credential');
    expect(state.asked).toBe(3);
  });

  /** Simulates a minute in which each beat comes back and a call comes every second. */
  async function useForAMinute(
    { changes, clock, tokens }: ReturnType<typeof setUp<StreamProgress>>,
    token: string,
  ) {
    const stream = streamTo(changes, (change) => tokens.invalidate(change));
    for (let beats = 0; beats < 200; beats++) {
      stream.publish({ beat: changes.beat() ?? 'none' });
      stream.deliver();
      clock.advance(300);
      if (beats % 3 === 0) await verify(tokens, token);
    }
    return stream;
  }

  test('is verified at most once a minute while beats come back', async () => {
    const parts = setUp(progressOf);
    await useForAMinute(parts, parts.put(credentialOf('k')));
    expect(parts.state.asked).toBeLessThanOrEqual(2);
  });

  test('is verified again a second after the last returned beat was sent, even if the consumer still delivers', async () => {
    const parts = setUp(progressOf);
    const { clock, put, tokens } = parts;
    const token = put(credentialOf('k'));
    const stream = await useForAMinute(parts, token);
    put(revoked, token);
    // This message arrives, but it is not one of the gateway's beats. Therefore it does not prove that the token is current.
    stream.publish({ change: changeOf('another') });
    clock.advance(1_000);
    stream.deliver();
    expect(await verify(tokens, token)).toEqual({ refusal: TokenRefusal.REVOKED });
  });

  test('is verified again if its verification is older than the last loss of messages', async () => {
    const parts = setUp(progressOf);
    const { changes, clock, put, tokens } = parts;
    const token = put(credentialOf('k'));
    const stream = await useForAMinute(parts, token);
    put(revoked, token);
    stream.publish({ change: changeOf('k') });
    stream.lose();
    stream.publish({ beat: changes.beat() ?? 'none' });
    stream.deliver();
    clock.advance(1_000);
    stream.publish({ beat: changes.beat() ?? 'none' });
    stream.deliver();
    expect(await verify(tokens, token)).toEqual({ refusal: TokenRefusal.REVOKED });
  });

  test('is verified at most once a second while the stream does not prove that all changes have arrived', async () => {
    const { clock, state, tokens, put } = setUp(notVouched);
    const token = put(credentialOf('k'));
    for (let call = 0; call < 100; call++) {
      await verify(tokens, token);
      clock.advance(100);
    }
    expect(state.asked).toBe(10);
  });

  test('is accepted for 10 minutes while accounts does not answer, and then is unavailable', async () => {
    for (const vouches of [vouched, notVouched]) {
      const { clock, state, tokens, put } = setUp(vouches);
      const token = put(credentialOf('k'));
      await verify(tokens, token);
      state.isUp = false;
      clock.advance(10 * MINUTE_MS - 1);
      expect(await verify(tokens, token)).toHaveProperty('credential');
      clock.advance(1);
      await expect(verify(tokens, token)).rejects.toMatchObject({ kind: 'unavailable' });
      state.isUp = true;
      clock.advance(1_000);
      expect(await verify(tokens, token)).toHaveProperty('credential');
    }
  });

  test('in use is verified every minute, so that its verification is young when an outage begins', async () => {
    const { clock, state, tokens, put } = setUp(vouched);
    const token = put(credentialOf('k'));
    for (let minute = 0; minute < 9; minute++) {
      await verify(tokens, token);
      await expect.poll(() => state.asked).toBe(minute + 1);
      clock.advance(MINUTE_MS);
    }
    state.isUp = false;
    clock.advance(8 * MINUTE_MS);
    expect(await verify(tokens, token)).toHaveProperty('credential');
  });

  test('causes at most one request a second while accounts does not answer, whether or not the token is still trusted', async () => {
    for (const hasChanged of [false, true]) {
      const { clock, state, tokens, put } = setUp(notVouched);
      const token = put(credentialOf('k'));
      await verify(tokens, token);
      if (hasChanged) tokens.invalidate(changeOf('k'));
      state.isUp = false;
      state.asked = 0;
      clock.advance(1_000);
      for (let call = 0; call < 100; call++) {
        const verified = verify(tokens, token);
        if (hasChanged) await expect(verified).rejects.toMatchObject({ kind: 'unavailable' });
        else expect(await verified).toHaveProperty('credential');
        clock.advance(100);
      }
      expect(state.asked).toBe(10);
    }
  });

  test('is refused once it has expired, even while accounts does not answer', async () => {
    const { clock, state, tokens, put } = setUp(notVouched);
    const token = put(credentialOf('k', clock.now().wallMs + 30_000));
    expect(await verify(tokens, token)).toHaveProperty('credential');
    state.isUp = false;
    clock.advance(29_999);
    expect(await verify(tokens, token)).toHaveProperty('credential');
    clock.advance(1);
    expect(await verify(tokens, token)).toEqual({ refusal: TokenRefusal.EXPIRED });
    tokens.invalidate(changeOf('k'));
    expect(await verify(tokens, token)).toEqual({ refusal: TokenRefusal.EXPIRED });
  });
});

test('tokens of one plan share its terms, so that each takes less memory, and each has the terms that accounts gave', async () => {
  const pool = fc.constantFrom('calls', 'logos');
  const terms = fc.record({
    plan: fc.constantFrom('free', 'paid'),
    routes: fc.array(fc.record({ route: fc.constant(Route.BRANDS), pool, allowance: fc.nat({ max: 2 }) }), {
      maxLength: 2,
    }),
    accountLimits: fc.option(fc.record({ concurrency: fc.nat({ max: 1 }) }), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(terms, { maxLength: 8 }), async (given) => {
      const { put, tokens } = setUp(vouched);
      const credentials: Credential[] = [];
      for (const [index, of] of given.entries()) {
        const outcome = credentialOf(`k${index}`);
        if (outcome?.$case !== 'credential') throw new Error('expected a credential');
        const value = { ...outcome.value, ...structuredClone(of) };
        const verified = await verify(tokens, put({ $case: 'credential', value }));
        expect(verified).toEqual({ credential: value });
        if ('credential' in verified) credentials.push(verified.credential);
      }
      const differing = new Set(given.map((of) => JSON.stringify(of)));
      expect(new Set(credentials.map(({ routes }) => routes)).size).toBe(differing.size);
    }),
  );
});

test('a token that is not cached is unavailable while accounts does not answer, and the next call asks accounts again', async () => {
  const { state, tokens, put } = setUp(vouched);
  const token = put(credentialOf('k'));
  state.isUp = false;
  await expect(verify(tokens, token)).rejects.toMatchObject({ kind: 'unavailable' });
  state.isUp = true;
  expect(await verify(tokens, token)).toHaveProperty('credential');
});

describe('tokens that are made up', () => {
  const refusedAsUnknown = { refusal: TokenRefusal.UNKNOWN };
  /** Sends 5,000 tokens a second for two seconds. Returns the different answers. */
  async function flood(
    { clock, tokens }: ReturnType<typeof setUp>,
    tokenOf: () => string,
    addressOf: (call: number) => string,
  ) {
    const answers = new Set<string>();
    const pending: Promise<void>[] = [];
    for (let slice = 0; slice < 60; slice++) {
      for (let call = 0; call < 250 && slice < 40; call++) {
        const verified = verify(tokens, tokenOf(), addressOf(slice * 250 + call));
        pending.push(verified.then((answer) => void answers.add(JSON.stringify(answer))));
      }
      await setImmediate();
      clock.advance(50);
    }
    await Promise.all(pending);
    return answers;
  }
  const mostInASecond = (times: readonly number[]) =>
    Math.max(0, ...times.map((from) => times.filter((ms) => ms >= from && ms < from + 1_000).length));

  test.each([
    ['many addresses', 50, (call: number) => `2001:db8:${(call % 5_000).toString(16)}::1`],
    ['one address', 10, () => '192.0.2.7'],
    ['one IPv6 network', 10, (call: number) => `2001:db8::${(call % 5_000).toString(16)}`],
  ])(
    'from %s cause at most %i questions in any second, and evict no valid token',
    async (_from, most, addressOf) => {
      const parts = setUp(vouched);
      const good = Array.from({ length: 1_000 }, (_, key) => parts.put(credentialOf(`k${key}`)));
      for (const token of good) await verify(parts.tokens, token);
      parts.state.askedMs = [];
      const answers = await flood(parts, createToken, addressOf);
      const { askedMs } = parts.state;
      expect(askedMs.length).toBeGreaterThanOrEqual(2 * most);
      expect(mostInASecond(askedMs)).toBeLessThanOrEqual(most);
      expect(answers).toEqual(new Set([JSON.stringify(refusedAsUnknown), '{"unasked":true}']));
      parts.state.isUp = false;
      for (const token of good) expect(await verify(parts.tokens, token)).toHaveProperty('credential');
    },
  );

  test('cause no question once the gateway knows the check key, and tokens of accounts need not wait for their turn', async () => {
    const parts = setUp(vouched);
    const key = tokenCheckKeyFrom('the hash key of the tests');
    parts.state.checkKeys = [Buffer.from(key.bytes)];
    await verify(parts.tokens, createToken());
    const forged = () => `${createToken(key).slice(0, -8)}00000000`;
    const answers = await flood(parts, forged, () => '192.0.2.7');
    expect(parts.state.asked).toBe(1);
    expect(answers).toEqual(new Set([JSON.stringify(refusedAsUnknown)]));
    const made = Array.from({ length: 500 }, (_, n) => parts.put(credentialOf(`k${n}`), createToken(key)));
    const verified = await Promise.all(made.map((token) => verify(parts.tokens, token)));
    expect(verified.filter((answer) => 'credential' in answer)).toHaveLength(500);
  });

  test('count as valid ones do from the first moment of a gateway, which knows no check key yet, if accounts made them', async () => {
    const parts = setUp(vouched);
    const key = tokenCheckKeyFrom('the hash key of the tests');
    parts.state.checkKeys = [Buffer.from(key.bytes)];
    const made = Array.from({ length: 2_000 }, (_, n) => parts.put(credentialOf(`k${n}`), createToken(key)));
    const forged = `${createToken(key).slice(0, -8)}00000000`;
    const answers = await Promise.all([...made, forged].map((token) => verify(parts.tokens, token)));
    expect(answers.filter((answer) => 'credential' in answer)).toHaveLength(2_000);
    expect(answers.at(-1)).toEqual(refusedAsUnknown);
    expect(parts.state.asked).toBe(2_000);
  });

  test('do not hold up a gateway that has just started and learns 500 plain tokens at once', async () => {
    const { put, tokens } = setUp(vouched);
    const good = Array.from({ length: 500 }, (_, key) => put(credentialOf(`k${key}`)));
    const verified = await Promise.all(good.map((token) => verify(tokens, token)));
    expect(verified.filter((answer) => 'credential' in answer)).toHaveLength(500);
  });

  test('are unavailable and not called too many while accounts does not answer', async () => {
    const parts = setUp(vouched);
    parts.state.isUp = false;
    await expect(verify(parts.tokens, createToken())).rejects.toMatchObject({ kind: 'unavailable' });
    const outcomes = Array.from({ length: 100 }, () => verify(parts.tokens, createToken()));
    const settled = Promise.allSettled(outcomes);
    for (let slice = 0; slice < 40; slice++) {
      parts.clock.advance(50);
      await setImmediate();
    }
    for (const outcome of await settled)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } });
  });

  test('that were refused are answered from the cache for 10 s, or until a key is created', async () => {
    const { clock, put, state, tokens } = setUp(vouched);
    const token = createToken();
    for (let call = 0; call < 10; call++) {
      expect(await verify(tokens, token)).toEqual(refusedAsUnknown);
      clock.advance(900);
    }
    expect(state.asked).toBe(1);
    put(credentialOf('k'), token);
    tokens.invalidate(changeOf('k'));
    expect(await verify(tokens, token)).toHaveProperty('credential');
    expect([tokens.cacheStats().entries, tokens.refusalStats().entries]).toEqual([1, 0]);
  });
});

test('after a delivery out of order, or of a consumer that was made again, tokens verified before are not current', () => {
  const clock = manualClock();
  const changes = new StreamProgress(clock);
  const arrivesWithBeat = (sequence: number) => {
    const isLost = changes.arrived(sequence);
    changes.returned(changes.beat() ?? 'none');
    clock.advance(1);
    return isLost;
  };
  arrivesWithBeat(7);
  for (const [sequence, isLost] of [
    [8, false],
    [10, true],
    [10, true],
    [1, true],
    [2, false],
  ] as const) {
    const before = clock.now();
    expect(changes.allArrivedSince(before)).toBe(true);
    clock.advance(1);
    expect(arrivesWithBeat(sequence)).toBe(isLost);
    expect(changes.allArrivedSince(before)).toBe(!isLost);
  }
});

test('beats are sent while calls use tokens, and stop once every cached token is too old to be trusted', () => {
  const clock = manualClock();
  const changes = new StreamProgress(clock);
  const isBeating = () => changes.beat() !== undefined;
  expect(isBeating()).toBe(true);
  clock.advance(10 * MINUTE_MS);
  expect(isBeating()).toBe(false);
  changes.allArrivedSince(clock.now());
  expect(isBeating()).toBe(true);
});

test('the age of what is heard grows while no beat comes back, also after a loss, and is 0 while no beats are sent', () => {
  const clock = manualClock();
  const changes = new StreamProgress(clock);
  const beat = changes.beat() ?? 'none';
  clock.advance(300);
  changes.returned(beat);
  expect(changes.ageMs).toBe(300);
  changes.lost();
  clock.advance(MINUTE_MS);
  expect(changes.ageMs).toBe(300 + MINUTE_MS);
  clock.advance(10 * MINUTE_MS);
  expect(changes.ageMs).toBe(0);
});
