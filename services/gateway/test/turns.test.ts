import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Turn, Turns } from '../src/admission/turns.ts';

const LATE_MS = 20;
const TOO_LATE_MS = 600;
/** Measurements. */
const FORGOTTEN_AFTER = 20;

function setUp() {
  let now = 0;
  const turns = new Turns(() => now);
  const advance = (ms: number) => {
    now += ms;
  };
  return { turns, advance };
}

describe('while the event loop keeps up', () => {
  test('every call begins at once', () => {
    const { turns } = setUp();
    for (let call = 0; call < 2_000; call++)
      expect(turns.admit(`account ${call % 3}`)).not.toBeInstanceOf(Promise);
  });
});

describe('while the event loop is late', () => {
  test('an account with many calls waits for its own calls to end, and every other account begins at once', async () => {
    const { turns } = setUp();
    const noisy = turns.admit('noisy') as Turn;
    for (let call = 1; call < 500; call++) void turns.admit('noisy');
    for (let measured = 0; measured < 30; measured++) turns.measured(LATE_MS);
    let began = 0;
    for (let call = 0; call < 100; call++)
      void Promise.resolve(turns.admit('noisy')).then(() => (began += 1));
    for (let other = 0; other < 1_000; other++)
      expect(turns.admit(`quiet ${other}`)).not.toBeInstanceOf(Promise);
    await setImmediate();
    expect(began).toBe(0);
    for (let call = 0; call < 500; call++) turns.release(noisy);
    await setImmediate();
    expect(began).toBe(16);
    for (let call = 0; call < 84; call++) turns.release(noisy);
    await setImmediate();
    expect(began).toBe(100);
    expect(turns.stats()).toEqual({ waiting: 0, refused: 0, accounts: 1_001 });
  });

  test('a little, an account with many calls waits only if another account calls too', () => {
    for (const others of [[], ['quiet']]) {
      const { turns } = setUp();
      for (const account of others) void turns.admit(account);
      for (let call = 0; call < 500; call++) void turns.admit('noisy');
      for (let measured = 0; measured < 30; measured++) turns.measured(5);
      void turns.admit('noisy');
      expect(turns.stats().waiting).toBe(others.length);
    }
  });

  test('a little, an account with many calls does not wait because of an account whose calls have ended', () => {
    const { turns } = setUp();
    const quiet = turns.admit('quiet') as Turn;
    for (let call = 0; call < 500; call++) void turns.admit('noisy');
    turns.release(quiet);
    for (let measured = 0; measured < 15; measured++) turns.measured(5);
    expect(turns.stats().accounts).toBe(2);
    void turns.admit('noisy');
    expect(turns.stats().waiting).toBe(0);
  });

  test('a call that has waited for a second is refused', async () => {
    const { turns, advance } = setUp();
    for (let measured = 0; measured < 30; measured++) turns.measured(LATE_MS);
    for (let call = 0; call < 16; call++) void turns.admit('noisy');
    const late = expect(turns.admit('noisy')).rejects.toThrow('overloaded');
    advance(999);
    turns.measured(LATE_MS);
    expect(turns.stats()).toEqual({ waiting: 1, refused: 0, accounts: 1 });
    advance(1);
    turns.measured(LATE_MS);
    await late;
    expect(turns.stats()).toEqual({ waiting: 0, refused: 1, accounts: 1 });
  });

  test('far too late, each account soon has one call in process, and the next is refused at once', async () => {
    const { turns } = setUp();
    for (let measured = 0; measured < 40; measured++) turns.measured(TOO_LATE_MS);
    const begun = ['a', 'b', 'c'].map((account) => turns.admit(account));
    for (const turn of begun) expect(turn).not.toBeInstanceOf(Promise);
    for (const account of ['a', 'b', 'c']) await expect(turns.admit(account)).rejects.toThrow('overloaded');
    turns.release(begun[0] as Turn);
    expect(turns.admit('a')).not.toBeInstanceOf(Promise);
  });
});

test('no call is lost: each begins or is refused, at most 1,000 of an account wait, and nothing stays behind', async () => {
  const step = fc.oneof(
    fc.record({ account: fc.constantFrom('a', 'b'), begins: fc.nat(800) }),
    fc.record({ account: fc.constantFrom('a', 'b'), ends: fc.nat(800) }),
    fc.record({ lateMs: fc.nat(1_000) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { turns, advance } = setUp();
      const inProcess = new Map<string, Turn[]>([
        ['a', []],
        ['b', []],
      ]);
      let under = 0;
      const begin = (account: string) => {
        under += 1;
        const began = (turn: Turn) => {
          under -= 1;
          inProcess.get(account)?.push(turn);
        };
        const turn = turns.admit(account);
        if (turn instanceof Promise) turn.then(began, () => (under -= 1));
        else began(turn);
      };
      const endAll = (account: string, most: number) => {
        for (const turn of inProcess.get(account)?.splice(0, most) ?? []) turns.release(turn);
      };
      for (const next of steps) {
        if ('lateMs' in next) {
          advance(50);
          turns.measured(next.lateMs);
        } else if ('begins' in next) for (let call = 0; call < next.begins; call++) begin(next.account);
        else endAll(next.account, next.ends);
        await setImmediate();
        expect(turns.stats().waiting).toBe(under);
        expect(under).toBeLessThanOrEqual(2_000);
      }
      advance(1_000);
      turns.measured(0);
      await setImmediate();
      expect(turns.stats().waiting).toBe(0);
      expect(under).toBe(0);
      for (const account of inProcess.keys()) endAll(account, Number.POSITIVE_INFINITY);
      for (let measured = 0; measured < FORGOTTEN_AFTER; measured++) turns.measured(0);
      expect(turns.stats()).toMatchObject({ waiting: 0, accounts: 0 });
    }),
    { numRuns: 50 },
  );
});
