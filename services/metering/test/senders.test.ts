import { createHolderIdentity, isHolderKey, keyOfHolder, UsageEvent } from '@brand-data/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Senders, UNPROVED } from '../src/ledger/senders.ts';

const NOW_MS = Date.UTC(2026, 10, 20);
const sendersAt = (nowMs: number) => new Senders({ now: () => ({ monotonicMs: 0, wallMs: nowMs }) });
const me = createHolderIdentity();
const other = createHolderIdentity();

describe('a proof', () => {
  test('is accepted for as long as the clocks of two machines may differ, and no longer', () => {
    fc.assert(
      fc.property(fc.integer({ min: -300_000, max: 300_000 }), (laterMs) => {
        const proof = createHolderIdentity();
        const given = () => sendersAt(NOW_MS + laterMs).ofRequest(proof.name, proof.proofAt(NOW_MS));
        if (laterMs >= -60_000 && laterMs < 150_000) expect(given()).toBe(proof.name);
        else expect(given).toThrow(/the proof is not of the holder/);
      }),
    );
  });

  test('is made once in half a minute, and always lasts a minute more', () => {
    const identity = createHolderIdentity();
    const first = identity.proofAt(NOW_MS);
    expect(identity.proofAt(NOW_MS + 29_999)).toBe(first);
    expect(identity.proofAt(NOW_MS + 30_000)).not.toBe(first);
    expect(identity.proofAt(NOW_MS - 60_000), 'the clock was set back').not.toBe(first);
  });

  test.each<[string, (senders: ReturnType<typeof sendersAt>) => unknown]>([
    ['of another holder', (senders) => senders.ofRequest(me.name, other.proofAt(NOW_MS))],
    [
      'that was verified for another holder',
      (senders) => {
        senders.ofRequest(other.name, other.proofAt(NOW_MS));
        return senders.ofRequest(me.name, other.proofAt(NOW_MS));
      },
    ],
    [
      'with another time',
      (senders) => senders.ofRequest(me.name, me.proofAt(NOW_MS).replace(/^\d+/, String(NOW_MS + 1))),
    ],
    ['for a name that is no key', (senders) => senders.ofRequest('gateway-1', me.proofAt(NOW_MS))],
    ['that is empty', (senders) => senders.ofRequest(me.name, '')],
    [
      'that is a signature of usage',
      (senders) => senders.ofRequest(me.name, `${NOW_MS + 1}.${me.sign(Buffer.from('x'))}`),
    ],
  ])('%s is refused', (_what, given) => {
    expect(() => given(sendersAt(NOW_MS))).toThrow(/the proof is not of the holder/);
  });

  test('that is missing proves nothing', () => {
    expect(sendersAt(NOW_MS).ofRequest(me.name, undefined)).toBe(UNPROVED);
  });
});

describe('a usage event', () => {
  const payload = UsageEvent.encode({ holder: me.name, usage: [] }).finish();

  test("is its holder's only with the holder's signature of exactly these bytes", () => {
    const senders = sendersAt(NOW_MS);
    expect(senders.ofEvent(me.name, payload, me.sign(payload))).toBe(me.name);
    expect(senders.ofEvent(me.name, payload, undefined)).toBe(UNPROVED);
    for (const signature of [other.sign(payload), me.sign(Buffer.from('other')), '', 'nonsense', 'ü'])
      expect(senders.ofEvent(me.name, payload, signature)).toBeUndefined();
    expect(senders.ofEvent('gateway-1', payload, me.sign(payload))).toBeUndefined();
  });
});

test('a name is a key only if it has the form of 32 bytes, and no name makes a reader fail', () => {
  expect(isHolderKey(me.name)).toBe(true);
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String({ minLength: 40, maxLength: 48 })), (name) => {
      if (!isHolderKey(name)) expect(keyOfHolder(name)).toBeUndefined();
      else expect(() => keyOfHolder(name)).not.toThrow();
    }),
  );
});
