import type { AddressInfo } from 'node:net';
import {
  Brand,
  BrandType,
  type CatalogServiceClient,
  type Credential,
  type LookupQuery,
  type LookupRequest,
  type LookupResult,
  MatchKind,
  MatchStrength,
  type MeteringServiceClient,
  MonthUsage,
  Route,
  type SearchRequest,
  type SearchResponse,
  TokenRefusal,
} from '@brand-data/contracts';
import { closeHttpServer, createLogger, Fault, systemClock } from '@brand-data/runtime';
import { Registry } from 'prom-client';
import type { AdmissionParts } from '../src/admission/admission.ts';
import { BlockedAddresses } from '../src/admission/blocked-addresses.ts';
import { createPacing } from '../src/admission/pacing.ts';
import { ProblemError } from '../src/answers/problem.ts';
import type { Tokens } from '../src/auth/tokens.ts';
import { createSearch } from '../src/calls/answer-search.ts';
import { createUsageAnswers } from '../src/calls/answer-usage.ts';
import { createHttpServer } from '../src/http/server.ts';
import { openApiDocument } from '../src/openapi/document.ts';
import { createPages } from '../src/pages/pages.ts';
import type { Quota } from '../src/quota/quota.ts';
import { Records } from '../src/records/records.ts';
import { outOfReach, unaryMethod } from './stand-ins.ts';

/** Made up, so that tests of answers do not change with the pages' texts. */
const SITE = [
  ['/playground', 'text/html; charset=utf-8', '<!doctype html><title>T</title>'],
  ['/elements.js', 'text/javascript; charset=utf-8', 'export {};'],
  ['/docs/errors', 'text/html; charset=utf-8', '<!doctype html><title>E</title>'],
].map(([path = '', type = '', text = '']) => ({ path, type, body: Buffer.from(text) }));

const ADDRESSES = { docsUrl: '/docs/errors', logoHost: 'https://logos.example.com' };
const INSTALLATION = {
  ...ADDRESSES,
  publicUrl: '',
  demoToken: '',
  statusUrl: '',
  plans: () => [],
  description: openApiDocument(ADDRESSES),
};

const NOW_MS = Date.UTC(2026, 10, 20, 12);

const brands = { route: Route.BRANDS, pool: 'calls', allowance: 50_000 };
const logos = { route: Route.LOGOS, pool: 'calls', allowance: 50_000 };
const credential = (more: Partial<Credential>): Credential => ({
  accountId: 'acme',
  keyId: 'key-1',
  plan: 'team',
  allowedOrigins: [],
  routes: [brands, logos],
  limitRevision: 1,
  expiresAtMs: undefined,
  allowance: '',
  allowanceUntilMs: 0,
  ...more,
});
const CREDENTIALS: Record<string, Credential> = {
  good: credential({}),
  free: credential({ plan: 'free', routes: [logos], limitRevision: 2 }),
  listed: credential({ allowedOrigins: ['https://app.example.com'] }),
  ...Object.fromEntries(
    ['new', 'spent', 'rated', 'fast', 'wide', 'crowded', 'no-permit', 'not-recorded'].map((accountId) => [
      accountId,
      credential({ accountId }),
    ]),
  ),
};
const REFUSALS: Record<string, TokenRefusal> = {
  revoked: TokenRefusal.REVOKED,
  expired: TokenRefusal.EXPIRED,
  closed: TokenRefusal.ACCOUNT_CLOSED,
};

const tokens = {
  verify: async (token: string) => {
    if (token === 'defect') throw new TypeError('a defect');
    if (token === 'untried') return { unasked: true };
    if (token === 'accounts-away') return outOfReach();
    const found = CREDENTIALS[token];
    return found ? { credential: found } : { refusal: REFUSALS[token] ?? TokenRefusal.UNKNOWN };
  },
} as unknown as Tokens;

const cells = [{ keyId: 'key-1', route: Route.BRANDS, status: 200, day: '2026-11-20', count: 3 }];
const pools = [{ pool: 'calls', limit: 50_000, used: 3, cells }];
const readUsage = unaryMethod(async () => ({ usage: MonthUsage.fromPartial({ complete: true, pools }) }));

/** The limits' decision about calls of these accounts. */
const DECISIONS: Record<string, ReturnType<AdmissionParts['limits']['admit']>> = {
  rated: { release: () => {}, second: { perSecond: 10, remaining: 7 } },
  fast: { refusedBy: 'key_rate', retryAfterMs: 1_200, second: { perSecond: 10, remaining: 0 } },
  wide: { refusedBy: 'account_concurrency', retryAfterMs: 1_000, second: undefined },
};

const turns: AdmissionParts['turns'] = {
  admit: (accountId) => {
    if (!accountId.startsWith('crowded')) return { accountId, inProcess: 1, queue: [] };
    const detail = 'The service has more to do than it can. Try again in a second.';
    return Promise.reject(new ProblemError('overloaded', detail, { 'Retry-After': '1' }));
  },
  release: ({ accountId }) => {
    if (accountId === 'crowded') throw new Error('this call had no turn');
  },
};

const quotaThatTells = (permits: string[]) =>
  ({
    admit: async ({ accountId }) => {
      if (accountId === 'spent') return { kind: 'exhausted', periodEndMs: Date.UTC(2026, 11, 1) };
      if (accountId === 'no-permit') throw new Fault('unavailable', 'no permit could be had in time');
      return {
        kind: 'permit',
        permit: {
          grant: { id: accountId },
          use: ({ keyId, route, status }) =>
            permits.push(`used by ${keyId}, ${route === Route.BRANDS ? 'brands' : 'logos'}, ${status}`),
          release: () => permits.push('released'),
        },
      };
    },
    commit: async ({ grant }) => {
      if (grant.id === 'not-recorded') throw new Fault('unavailable', 'usage could not be recorded in time');
    },
    remaining: ({ accountId }) => (accountId === 'new' ? undefined : 42),
  }) as Partial<Quota> as Quota;

const NO_ANSWER: LookupResult = { suggestions: [], namesSuperinvestor: false, leftOut: false, keys: [1] };
const SUGGESTIONS = [
  { name: 'Apple', identifier: 'AAPL' },
  { name: 'Applied "Materials"', identifier: 'AMAT' },
];

/** A listed company. Only one of its sources states nothing that flat records show. */
const priced = (brand: Brand) => ({
  brand: Brand.fromPartial({
    ...brand,
    type: BrandType.STOCK,
    stock: { currency: 'USD', price: 12.5 },
    ownership: { owner: ['Ünïon "A"'] },
    sources: [
      { name: 'hand-written', date: '2026-11-18' },
      { name: 'Ünïon "A"', fields: ['ownership.owner'] },
      { name: 'Prices', date: '2026-11-19', fields: ['stock'] },
    ],
  }),
  changedAtMs: Date.UTC(2026, 10, 19, 8, 30),
  priceDate: '2026-11-19',
});

/**
 * Suggestions are only for `No Such Apple`, `No Such Investor` names a superinvestor, and `No Such Fund` is a fund.
 *
 * @param held the look-up of `Held` waits for this promise
 */
const catalogWith = (held: Promise<void>) => {
  const answer = async ({
    identifier: name,
    superinvestors,
    kind = MatchKind.NAME,
  }: LookupQuery): Promise<LookupResult> => {
    if (name === 'Held') await held;
    if (name === 'catalog-away') return outOfReach();
    if (name.includes('No Such'))
      return {
        ...NO_ANSWER,
        suggestions: name === 'No Such Apple' ? SUGGESTIONS : [],
        namesSuperinvestor: name === 'No Such Investor' && !superinvestors,
        noCompany: name === 'No Such Fund' ? { kind: 'fund', name: 'Acme "Core" ETF' } : undefined,
      };
    const images = { logo: { big: { path: '/logos/acme.svg' } } };
    const facts = { id: 'acme', type: BrandType.BRAND, name, description: 'Made up.', category: 'brand' };
    const match = { kind, value: name, strength: MatchStrength.EXACT };
    const found = { ...NO_ANSWER, brand: Brand.fromPartial({ ...facts, images }), match };
    return name === 'Priced' ? { ...found, ...priced(found.brand) } : found;
  };
  return unaryMethod(async ({ queries }: LookupRequest) => ({
    results: await Promise.all(queries.map(answer)),
  }));
};

/** Finds one company for each letter of the text. */
const search = async ({ text, limit }: SearchRequest): Promise<SearchResponse> => {
  if (text === 'catalog-away') return outOfReach();
  const found = [...text.replaceAll(/\W/g, '')].map((letter) => ({
    brand: Brand.fromPartial({
      id: letter,
      type: BrandType.BRAND,
      name: `Acme ${letter}`,
      description: 'Made up.',
      category: 'brand',
    }),
    identifier: `acme ${letter}`,
  }));
  return { companies: found.slice(0, limit) };
};

/**
 * Starts the public API on stand-ins, with the date 2026-11-20. The token `good` may call both routes. Every other token is named
 * after its special property. Every identifier finds a brand of that name, unless it contains "No Such". `Priced` is a
 * listed company with a price and three sources.
 *
 * @param blocked networks that are blocked for another hour
 * @param log gets the lines of the access log, unless `accessLog` is off
 */
export function createPublicApi({
  log = createLogger('test', 'silent'),
  accessLog = 'off' as 'off' | 'on' | 'hash' | 'address',
  pace = {},
  trustedProxies = [] as string[],
  blocked: networks = [] as string[],
} = {}) {
  /** The outcome of each permit. */
  const permits: string[] = [];
  const chargedCalls = { answered: 0, unsure: 0 };
  /** Every identifier that a call looked up. */
  const lookedUp: string[] = [];
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const catalog = {
    lookup: catalogWith(promise),
    search: unaryMethod(search),
  } as unknown as CatalogServiceClient;
  const shown = { logoHost: ADDRESSES.logoHost, monogramKey: 'any' };
  const records = new Records(catalog, { ...shown, cacheBytes: 1_000_000 });
  const readiness = { started: true };
  const now = () => ({ wallMs: NOW_MS, monotonicMs: performance.now() });
  const blocked = new BlockedAddresses({ now });
  blocked.replace(networks.map((network) => ({ network, expiresAtMs: NOW_MS + 3_600_000 })));
  const metrics = new Registry();
  const app = createHttpServer(
    { log, metrics, tracer: undefined, readiness },
    {
      tokens,
      blocked,
      limits: { admit: ({ accountId }) => DECISIONS[accountId] },
      turns,
      quota: quotaThatTells(permits),
      chargedCalls,
      now: () => NOW_MS,
      records: {
        monogramUrl: (text) => records.monogramUrl(text),
        find: (variant, identifier, kind) => {
          lookedUp.push(identifier);
          return records.find(variant, identifier, kind);
        },
      },
      search: createSearch(catalog, shown),
      usageAnswers: createUsageAnswers({ readUsage } as unknown as MeteringServiceClient, { now }),
      pacing: createPacing(systemClock, { perSecond: 100_000, burst: 100_000, ...pace }),
      description: INSTALLATION.description,
      pages: createPages(SITE, INSTALLATION),
    },
    { docsUrl: '/docs/errors', trustedProxies, accessLog },
  );
  return {
    app,
    chargedCalls,
    lookedUp,
    metrics,
    permits,
    readiness,
    /** Resolves to its port. */
    listen: async () => {
      await app.listen({ host: '127.0.0.1', port: 0 });
      return (app.server.address() as AddressInfo).port;
    },
    /** Ends the wait of look-ups of `Held`. */
    release,
    close: () => closeHttpServer(app),
  };
}
