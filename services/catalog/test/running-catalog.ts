import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  Brand,
  BrandType,
  CatalogAdminServiceClient,
  CatalogServiceClient,
  type LookupResult,
  type PutBrandsResponse,
  type PutQuotesResponse,
  Quote,
} from '@brand-data/contracts';
import { freePort } from '@brand-data/local';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { vi } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

const OPERATOR_TOKEN = 'the operator credential of tests';

/** The service as its own process, and calls to it. */
export interface RunningCatalog {
  admin: CatalogAdminServiceClient;
  operate: <Request, Response>(
    method: Parameters<typeof callUnary<Request, Response>>[1],
    request: Request,
  ) => Promise<Response>;
  /** Puts brands as one batch of the import "<source>-1", or of another. */
  put: (source: string, brands: Brand[], importId?: string) => Promise<PutBrandsResponse>;
  /** Puts quotes in the same way. */
  quote: (source: string, quotes: Partial<Quote>[], importId?: string) => Promise<PutQuotesResponse>;
  /** Superinvestors resolve too. */
  lookup: (...identifiers: string[]) => Promise<LookupResult[]>;
  /** The status of /readyz. */
  readiness: () => Promise<number>;
  stop: () => Promise<void>;
  /** Without notice. */
  kill: () => Promise<void>;
}

export async function startCatalog(settings: {
  mongodbUrl: string;
  natsUrl: string;
  database: string;
}): Promise<RunningCatalog> {
  const catalog = await launchCatalog(settings);
  await vi.waitFor(
    async () => {
      if ((await catalog.readiness()) !== 200) throw new Error('the service is not ready');
    },
    { timeout: 30_000, interval: 50 },
  );
  return catalog;
}

/** Returns at once, ready or not. */
export async function launchCatalog(settings: {
  mongodbUrl: string;
  natsUrl: string;
  database: string;
}): Promise<RunningCatalog> {
  const [grpc, adminPort, ops] = [await freePort(), await freePort(), await freePort()];
  const child: ChildProcess = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      LOG_LEVEL: 'silent',
      HOST: '127.0.0.1',
      OPS_PORT: String(ops),
      GRPC_PORT: String(grpc),
      ADMIN_GRPC_PORT: String(adminPort),
      OPERATOR_TOKEN,
      MONGODB_URL: settings.mongodbUrl,
      MONGODB_DATABASE: settings.database,
      NATS_URL: settings.natsUrl,
    },
  });
  const exited = once(child, 'exit');
  const client = connectChannel(CatalogServiceClient, `127.0.0.1:${grpc}`);
  const admin = connectChannel(CatalogAdminServiceClient, `127.0.0.1:${adminPort}`);
  const operate: RunningCatalog['operate'] = (method, request) =>
    callUnary(admin, method, request, { deadlineMs: 20_000, operatorToken: OPERATOR_TOKEN });
  const end = async (signal: NodeJS.Signals) => {
    client.close();
    admin.close();
    child.kill(signal);
    await exited;
  };
  return {
    admin,
    operate,
    put: (source, brands, importId = `${source}-1`) =>
      operate(admin.putBrands, { source, importId, brands, dryRun: false }),
    quote: (source, quotes, importId = `${source}-1`) =>
      operate(admin.putQuotes, {
        source,
        importId,
        quotes: quotes.map((quote) => Quote.fromPartial(quote)),
        dryRun: false,
      }),
    lookup: async (...identifiers) => {
      const queries = identifiers.map((identifier) => ({ identifier, superinvestors: true }));
      return (await callUnary(client, client.lookup, { queries }, { deadlineMs: 10_000 })).results;
    },
    readiness: () =>
      fetch(`http://127.0.0.1:${ops}/readyz`).then(
        ({ status }) => status,
        () => 0,
      ),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/** A record with what every record has, and `fields`. */
export function brandOf(id: string, fields: Parameters<typeof Brand.fromPartial>[0] = {}): Brand {
  return Brand.fromPartial({
    id,
    type: BrandType.BRAND,
    name: id,
    description: `${id} is a brand.`,
    category: 'brand',
    rank: 500,
    ...fields,
  });
}

/** A listed company with one listing, "ACME@XNAS". */
export function stockOf(
  id: string,
  listing: string,
  fields: Parameters<typeof Brand.fromPartial>[0] = {},
): Brand {
  const [ticker = '', mic = ''] = listing.split('@');
  return brandOf(id, { type: BrandType.STOCK, listings: [{ ticker, mic }], ...fields });
}
