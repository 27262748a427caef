import {
  type Brand,
  BrandType,
  CatalogAdminServiceClient,
  CatalogServiceClient,
  type LookupQuery,
  type LookupResult,
  type PutBrandsResponse,
  type PutQuotesResponse,
  Quote,
} from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import { createAuditStream } from '@brand-data/testing/audit-stream';
import { brandOf } from '@brand-data/testing/brand-of';
import { launchService } from '@brand-data/testing/running-service';

export const OPERATOR_TOKEN = 'the operator credential of tests';

/** The service in a separate process, and functions that call it. */
export interface RunningCatalog {
  client: CatalogServiceClient;
  admin: CatalogAdminServiceClient;
  /** host:port of the admin port. */
  adminTarget: string;
  operate: <Request, Response>(
    method: Parameters<typeof callUnary<Request, Response>>[1],
    request: Request,
  ) => Promise<Response>;
  /** Puts brands as one batch of the import "<source>-1", or of `importId`. */
  put: (source: string, brands: Brand[], importId?: string) => Promise<PutBrandsResponse>;
  /** Puts quotes in the same way. */
  quote: (source: string, quotes: Partial<Quote>[], importId?: string) => Promise<PutQuotesResponse>;
  /** Looks up identifiers, including those of superinvestors. */
  lookup: (...identifiers: string[]) => Promise<LookupResult[]>;
  query: (...queries: LookupQuery[]) => Promise<LookupResult[]>;
  /** The status of /readyz. */
  readiness: () => Promise<number>;
  /** What a scrape of its metrics gets. */
  metrics: () => Promise<string>;
  untilReady: () => Promise<void>;
  stop: () => Promise<unknown>;
  /** Kills the process without notice. */
  kill: () => Promise<void>;
}

type Settings = Record<'mongodbUrl' | 'natsUrl' | 'database', string>;

export async function startCatalog(settings: Settings): Promise<RunningCatalog> {
  await createAuditStream(settings.natsUrl);
  const catalog = await launchCatalog(settings);
  await catalog.untilReady();
  return catalog;
}

/** Starts the service and returns at once, before it is ready. */
export async function launchCatalog(settings: Settings): Promise<RunningCatalog> {
  const options = { ...settings, operatorToken: OPERATOR_TOKEN };
  const service = await launchService('catalog', options);
  const { target, adminTarget, readiness, untilReady, stop, kill } = service;
  const client = connectChannel(CatalogServiceClient, target, channelAs('gateway', 'catalog'));
  const admin = connectChannel(CatalogAdminServiceClient, adminTarget, channelAs('bds', 'catalog'));
  const operate: RunningCatalog['operate'] = (method, request) =>
    callUnary(admin, method, request, { deadlineMs: 20_000, operatorToken: OPERATOR_TOKEN });
  const query = async (...queries: LookupQuery[]) => {
    const request = { queries, weakMatches: true, maxBytes: 0 };
    return (await callUnary(client, client.lookup, request, { deadlineMs: 10_000 })).results;
  };
  const close = () => {
    client.close();
    admin.close();
  };
  return {
    client,
    admin,
    adminTarget,
    operate,
    put: (source, brands, importId = `${source}-1`) =>
      operate(admin.putBrands, { source, importId, brands, dryRun: false, onlyJoining: false }),
    quote: (source, partial, importId = `${source}-1`) => {
      const quotes = partial.map((quote) => Quote.fromPartial(quote));
      return operate(admin.putQuotes, { source, importId, quotes, dryRun: false });
    },
    lookup: (...identifiers) =>
      query(...identifiers.map((identifier) => ({ identifier, superinvestors: true, suggest: false }))),
    query,
    readiness,
    metrics: async () => (await fetch(`${service.opsUrl}/metrics`)).text(),
    untilReady,
    stop: () => {
      close();
      return stop();
    },
    kill: () => {
      close();
      return kill();
    },
  };
}

/** Returns a listed company with one listing, "ACME@XNAS". */
export function stockOf(
  id: string,
  listing: string,
  fields: Parameters<typeof Brand.fromPartial>[0] = {},
): Brand {
  const [ticker = '', mic = ''] = listing.split('@');
  return brandOf(id, { type: BrandType.STOCK, listings: [{ ticker, mic }], ...fields });
}
