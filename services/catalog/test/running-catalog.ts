import {
  type Brand,
  BrandType,
  CatalogAdminServiceClient,
  CatalogServiceClient,
  type LookupQuery,
  Quote,
} from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import { createAuditStream } from '@brand-data/testing/audit-stream';
import { brandOf } from '@brand-data/testing/brand-of';
import { launchService } from '@brand-data/testing/running-service';

export const OPERATOR_TOKEN = 'the operator credential of tests';

export type RunningCatalog = Awaited<ReturnType<typeof launchCatalog>>;

type Settings = Record<'mongodbUrl' | 'natsUrl' | 'database', string>;

export async function startCatalog(settings: Settings): Promise<RunningCatalog> {
  await createAuditStream(settings.natsUrl);
  const catalog = await launchCatalog(settings);
  await catalog.untilReady();
  return catalog;
}

/** Starts the service in a separate process, and returns functions that call it at once, before it is ready. */
export async function launchCatalog(settings: Settings) {
  const service = await launchService('catalog', { ...settings, operatorToken: OPERATOR_TOKEN });
  const client = connectChannel(CatalogServiceClient, service.target, channelAs('gateway', 'catalog'));
  const admin = connectChannel(CatalogAdminServiceClient, service.adminTarget, channelAs('bds', 'catalog'));
  service.clients.push(client, admin);
  const operate = <Request, Response>(
    method: Parameters<typeof callUnary<Request, Response>>[1],
    request: Request,
  ) => callUnary(admin, method, request, { deadlineMs: 20_000, operatorToken: OPERATOR_TOKEN });
  const query = async (...queries: LookupQuery[]) => {
    const request = { queries, weakMatches: true, maxBytes: 0 };
    return (await callUnary(client, client.lookup, request, { deadlineMs: 10_000 })).results;
  };
  return {
    ...service,
    client,
    admin,
    operate,
    /** Puts brands as one batch of the import "<source>-1", or of `importId`. */
    put: (source: string, brands: Brand[], importId = `${source}-1`) =>
      operate(admin.putBrands, { source, importId, brands, dryRun: false, onlyJoining: false }),
    /** Puts quotes in the same way. */
    quote: (source: string, partial: Partial<Quote>[], importId = `${source}-1`) => {
      const quotes = partial.map((quote) => Quote.fromPartial(quote));
      return operate(admin.putQuotes, { source, importId, quotes, dryRun: false });
    },
    /** Looks up identifiers, including those of superinvestors. */
    lookup: (...identifiers: string[]) =>
      query(...identifiers.map((identifier) => ({ identifier, superinvestors: true, suggest: false }))),
    query,
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
