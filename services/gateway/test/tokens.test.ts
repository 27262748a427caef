import {
  type AccountChanged,
  type AccountsServiceClient,
  createToken,
  TokenRefusal,
  tokenSha256,
  type VerifyTokenRequest,
  type VerifyTokenResponse,
} from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AccountChanges, createContinuity } from '../src/account-changes.ts';
import { createTokens } from '../src/tokens.ts';
import { manualClock, outOfReach, unaryMethod } from './stand-ins.ts';

const MINUTE_MS = 60_000;

type Outcome = VerifyTokenResponse['outcome'];

const credentialOf = (keyId: string, expiresAtMs?: number): Outcome => ({
  $case: 'credential',
  value: {
    keyId,
    accountId: 'acct',
    plan: 'paid',
    allowedOrigins: [],
    routes: [],
    limitRevision: 1,
    expiresAtMs,
  },
});
const revoked: Outcome = { $case: 'refusal', value: TokenRefusal.REVOKED };

/** Tokens on an accounts service of one map, which can be taken out of reach. */
function setUp<C extends AccountChanges>(changesOf: (clock: Pick<Clock, 'now'>) => C) {
  const clock = manualClock();
  const outcomes = new Map<string, Outcome>();
  const state = { isUp: true, asked: 0 };
  const verifyToken = unaryMethod(async (request: VerifyTokenRequest): Promise<VerifyTokenResponse> => {
    state.asked += 1;
    if (!state.isUp) return outOfReach();
    return { outcome: outcomes.get(Buffer.from(request.tokenSha256).toString('hex')) };
  });
  const accounts = { verifyToken } as unknown as AccountsServiceClient;
  const changes = changesOf(clock);
  const tokens = createTokens(accounts, { changes: () => changes, clock, entries: 1_000 });
  const put = (outcome: Outcome, token = createToken()) => {
    outcomes.set(Buffer.from(tokenSha256(token)).toString('hex'), outcome);
    return token;
  };
  return { clock, state, changes, tokens, put };
}

const vouched = () => ({ allArrivedSince: () => true });
const notVouched = () => ({ allArrivedSince: () => false });
const changeOf = (keyId: string): AccountChanged => ({
  subject: { $case: 'keyId', value: keyId },
  revision: 1,
});

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(1_200) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('call' as const), key: fc.nat(1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('heartbeat' as const) }) },
  fc.record({ kind: fc.constant('reconnect' as const) }),
  fc.record({ kind: fc.constant('revoke' as const), key: fc.nat(1), lost: fc.boolean() }),
);

describe('a remembered token', () => {
  test('is refused a second after its revocation was confirmed, whatever messages and connections are lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), async (steps) => {
        const { changes, clock, tokens, put } = setUp(createContinuity);
        const held = ['k0', 'k1'].map((keyId) => ({ keyId, token: put(credentialOf(keyId)) }));
        const revokedAtMs = new Map<string, number>();
        let lost = false;
        // What comes after a loss shows it.
        const arrives = (then: () => void) => {
          if (lost) changes.broken();
          else then();
          lost = false;
        };
        for (const next of steps) {
          if (next.kind === 'advance') clock.advance(next.ms);
          else if (next.kind === 'heartbeat') arrives(() => changes.heard());
          else if (next.kind === 'reconnect') {
            changes.broken();
            lost = false;
          } else {
            const key = held[next.key];
            if (!key) continue;
            const nowMs = clock.now().monotonicMs;
            if (next.kind === 'revoke') {
              if (revokedAtMs.has(key.keyId)) continue;
              put(revoked, key.token);
              revokedAtMs.set(key.keyId, nowMs);
              if (next.lost) lost = true;
              else {
                arrives(() => {
                  changes.heard();
                  tokens.forget(changeOf(key.keyId));
                });
              }
            } else {
              const verified = await tokens.verify(key.token);
              const sinceMs = nowMs - (revokedAtMs.get(key.keyId) ?? Number.POSITIVE_INFINITY);
              if (sinceMs >= 1_000) expect(verified).toEqual({ refusal: TokenRefusal.REVOKED });
              if (sinceMs < 0) expect(verified).toHaveProperty('credential');
            }
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test('is verified again when it was verified before the stream of changes was last broken', async () => {
    const { changes, clock, tokens, put } = setUp(createContinuity);
    const token = put(credentialOf('k'));
    const listen = (ms: number) => {
      for (let passed = 0; passed < ms; passed += 500) {
        clock.advance(500);
        changes.heard();
      }
    };
    listen(1_000);
    await tokens.verify(token);
    put(revoked, token);
    changes.broken();
    listen(5_000);
    expect(await tokens.verify(token)).toEqual({ refusal: TokenRefusal.REVOKED });
  });

  test('is verified once a second at most while the stream of changes does not vouch for it', async () => {
    const { clock, state, tokens, put } = setUp(notVouched);
    const token = put(credentialOf('k'));
    for (let call = 0; call < 100; call++) {
      await tokens.verify(token);
      clock.advance(100);
    }
    expect(state.asked).toBe(10);
  });

  test('goes on for 10 minutes while accounts is out of reach, then is unavailable', async () => {
    for (const vouches of [vouched, notVouched]) {
      const { clock, state, tokens, put } = setUp(vouches);
      const token = put(credentialOf('k'));
      await tokens.verify(token);
      state.isUp = false;
      clock.advance(10 * MINUTE_MS - 1);
      expect(await tokens.verify(token)).toHaveProperty('credential');
      clock.advance(1);
      await expect(tokens.verify(token)).rejects.toMatchObject({ kind: 'unavailable' });
      state.isUp = true;
      clock.advance(1_000);
      expect(await tokens.verify(token)).toHaveProperty('credential');
    }
  });

  test('in use is verified every minute, so that an outage finds it young', async () => {
    const { clock, state, tokens, put } = setUp(vouched);
    const token = put(credentialOf('k'));
    for (let minute = 0; minute < 9; minute++) {
      await tokens.verify(token);
      await expect.poll(() => state.asked).toBe(minute + 1);
      clock.advance(MINUTE_MS);
    }
    state.isUp = false;
    clock.advance(8 * MINUTE_MS);
    expect(await tokens.verify(token)).toHaveProperty('credential');
  });

  test('asks accounts once a second at most while it is out of reach, be the token still good or not', async () => {
    for (const hasChanged of [false, true]) {
      const { clock, state, tokens, put } = setUp(notVouched);
      const token = put(credentialOf('k'));
      await tokens.verify(token);
      if (hasChanged) tokens.forget(changeOf('k'));
      state.isUp = false;
      state.asked = 0;
      clock.advance(1_000);
      for (let call = 0; call < 100; call++) {
        const verified = tokens.verify(token);
        if (hasChanged) await expect(verified).rejects.toMatchObject({ kind: 'unavailable' });
        else expect(await verified).toHaveProperty('credential');
        clock.advance(100);
      }
      expect(state.asked).toBe(10);
    }
  });

  test('is refused as expired once it has, also while accounts is out of reach', async () => {
    const { clock, state, tokens, put } = setUp(notVouched);
    const token = put(credentialOf('k', clock.now().wallMs + 30_000));
    expect(await tokens.verify(token)).toHaveProperty('credential');
    state.isUp = false;
    clock.advance(29_999);
    expect(await tokens.verify(token)).toHaveProperty('credential');
    clock.advance(1);
    expect(await tokens.verify(token)).toEqual({ refusal: TokenRefusal.EXPIRED });
    tokens.forget(changeOf('k'));
    expect(await tokens.verify(token)).toEqual({ refusal: TokenRefusal.EXPIRED });
  });
});

test('a token that is not remembered is unavailable while accounts is out of reach, and asked about in the next call', async () => {
  const { state, tokens, put } = setUp(vouched);
  const token = put(credentialOf('k'));
  state.isUp = false;
  await expect(tokens.verify(token)).rejects.toMatchObject({ kind: 'unavailable' });
  state.isUp = true;
  expect(await tokens.verify(token)).toHaveProperty('credential');
});
