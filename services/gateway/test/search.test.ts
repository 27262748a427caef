import { BrandType, type CatalogServiceClient, type Credential } from '@brand-data/contracts';
import { brandOf } from '@brand-data/testing/brand-of';
import { afterEach, expect, test, vi } from 'vitest';
import { CallsLimiter } from '../src/admission/limits/call-limits.ts';
import { Turns } from '../src/admission/turns.ts';
import { taggedBody } from '../src/answers/answer.ts';
import type { Tokens } from '../src/auth/tokens.ts';
import { answerSearch, createSearch, type Search } from '../src/calls/answer-search.ts';
import { someCaller } from './stand-ins.ts';

const credential: Credential = {
  accountId: 'acme',
  keyId: 'key-1',
  plan: 'team',
  allowedOrigins: [],
  routes: [],
  limitRevision: 1,
  expiresAtMs: undefined,
  allowance: '',
  allowanceUntilMs: 0,
  keyLimits: { rate: { perSecond: 1, burst: 1 } },
};

const shown = { logoHost: 'https://logos.example', monogramKey: 'any' };

type Answer = (error: unknown, response?: unknown) => void;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const partsWith = (search: Search) => ({
  tokens: { verify: () => ({ credential }) } as unknown as Tokens,
  limits: new CallsLimiter({ gateway: 'only', publish: () => {}, nowMs: () => 0 }),
  turns: new Turns(() => 0),
  search,
});

const asked = (signal = new AbortController().signal) => ({
  caller: someCaller(),
  query: { q: 'acme' },
  ifNoneMatch: undefined,
  acceptEncoding: undefined,
  signal,
});

test('a key may make two hundred searches at once, and they take nothing from the rate of its calls', async () => {
  const parts = partsWith(async () => taggedBody('{}'));
  for (let made = 0; made < 200; made++) expect((await answerSearch(parts, asked())).status).toBe(200);
  const refused = { problem: { code: 'rate_limited', headers: { 'Retry-After': '1' } }, accountId: 'acme' };
  await expect(answerSearch(parts, asked())).rejects.toMatchObject(refused);
  expect(parts.limits.admit(credential)).toHaveProperty('release');
});

test.each(['before it begins', 'while it runs'])(
  'a search ends in catalog when its caller hangs up %s, and is no failure of the service',
  async (when) => {
    const hungUp = new AbortController();
    if (when === 'before it begins') hungUp.abort();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const search = (_request: unknown, _metadata: unknown, _options: unknown, answer: Answer) => {
      begin();
      return { cancel: () => answer({ code: 1, details: 'cancelled' }) };
    };
    const catalog = { search } as unknown as CatalogServiceClient;
    const parts = partsWith(createSearch(catalog, shown));
    const answer = answerSearch(parts, asked(hungUp.signal));
    await Promise.all([
      expect(answer).rejects.toMatchObject({ problem: { code: 'request_invalid' }, isFailure: false }),
      begun.then(() => hungUp.abort()),
    ]);
    expect(parts.turns.stats()).toMatchObject({ waiting: 0, refused: 0 });
  },
);

test('of many who type the same text within ten seconds one asks catalog, the others get the same bytes, and a failure is not kept', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1);
  const asked: unknown[] = [];
  let name = 'Acme';
  const search = (request: unknown, ...[, , answer]: [unknown, unknown, Answer]) => {
    asked.push(request);
    const companies = [{ brand: brandOf('acme', { name, type: BrandType.BRAND }), identifier: name }];
    answer(name === '' ? { code: 14, details: 'away' } : null, { companies });
  };
  const find = createSearch({ search } as unknown as CatalogServiceClient, shown);
  const { signal } = new AbortController();
  const ofLimit = (limit: number) => ({ text: 'acm', limit, accountId: 'acme' });
  const first = await find(ofLimit(10), signal);
  name = '';
  for (let typist = 0; typist < 100; typist++)
    expect(await find({ ...ofLimit(10), accountId: 'other' }, signal)).toBe(first);
  await expect(find(ofLimit(5), signal)).rejects.toMatchObject({ kind: 'unavailable' });
  await expect(find(ofLimit(5), signal)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(asked).toEqual([10, 5, 5].map(ofLimit));
  name = 'Globex';
  clock.mockReturnValue(10_100);
  vi.advanceTimersByTime(10_100);
  expect(String((await find(ofLimit(10), signal)).body)).toContain('Globex');
});
