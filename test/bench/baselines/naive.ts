import { hash } from 'node:crypto';
import {
  AccountsServiceClient,
  CatalogServiceClient,
  createHolderIdentity,
  type GrantUsage,
  HOLDER_PROOF_METADATA,
  type HolderIdentity,
  MeteringServiceClient,
  Route,
} from '@brand-data/contracts';
import { presentGrouped } from '@brand-data/presenters';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelFrom } from '@brand-data/runtime/test/channel-as.ts';
import { fastify } from 'fastify';

/**
 * The baseline of `miss`: a gateway without caches and without permits in advance. For each call it verifies the token with accounts,
 * gets one permit from metering and looks up the record in catalog. The request for an account's next permit carries the usage of
 * the one before, so a call makes three requests. A call is answered before its usage is stored.
 *
 * Argument: NaiveSettings in JSON. To its parent it behaves like same-answer.ts.
 */
export interface NaiveSettings {
  /** host:port of accounts, catalog and metering. */
  targets: Readonly<Record<string, string>>;
  /** The folder with the certificates of all identities. */
  certificates: string;
  logoHost: string;
  monogramKey: string;
}

/** Takes permits of one account for one call after another. `usage` has the permit of the call before. */
interface Taker {
  holder: HolderIdentity;
  seq: number;
  usage: GrantUsage[];
}

const { targets, certificates, ...shown }: NaiveSettings = JSON.parse(process.argv[2] ?? '');
const channel = (peer: string) => channelFrom(certificates, 'gateway', peer);
const accounts = connectChannel(AccountsServiceClient, targets.accounts ?? '', channel('accounts'));
const catalog = connectChannel(CatalogServiceClient, targets.catalog ?? '', channel('catalog'));
const metering = connectChannel(MeteringServiceClient, targets.metering ?? '', channel('metering'));
const options = { deadlineMs: 5_000, waitForReady: true };

/** Calls of an account that run at once need a holder each: a holder's requests for the permits of an account have an order. */
const holders: HolderIdentity[] = [];
const takersOf = new Map<string, { idle: Taker[]; made: number }>();

function takerOf(accountId: string): Taker {
  const takers = takersOf.get(accountId) ?? { idle: [], made: 0 };
  takersOf.set(accountId, takers);
  const idle = takers.idle.pop();
  if (idle) return idle;
  holders[takers.made] ??= createHolderIdentity();
  return { holder: holders[takers.made++] ?? createHolderIdentity(), seq: 0, usage: [] };
}

const app = fastify({ logger: false });
app.get<{ Params: { identifier: string }; Querystring: { token: string } }>(
  '/v1/brands/:identifier',
  async ({ params: { identifier }, query: { token } }, reply) => {
    const tokenSha256 = hash('sha256', token, 'buffer');
    const { outcome } = await callUnary(accounts, accounts.verifyToken, { tokenSha256 }, options);
    if (outcome?.$case !== 'credential') return reply.code(401).send({ error: 'unknown token' });
    const { accountId, keyId, routes, limitRevision, allowance } = outcome.value;
    const pool = routes.find(({ route }) => route === Route.BRANDS);
    if (!pool) return reply.code(403).send({ error: 'not in the plan' });

    const taker = takerOf(accountId);
    taker.seq += 1;
    const acquired = await callUnary(
      metering,
      metering.acquire,
      {
        holder: taker.holder.name,
        seq: taker.seq,
        accountId,
        pool: pool.pool,
        allowance,
        limit: pool.allowance,
        limitRevision,
        want: 1,
        wantSoon: 1,
        waiting: 1,
        urgent: true,
        ignoredFromSeq: 0,
        fromMs: 0,
        usage: taker.usage,
      },
      // Metering checks each proof once, and a holder uses it for half a minute.
      { ...options, metadata: { [HOLDER_PROOF_METADATA]: taker.holder.proofAt(Date.now()) } },
    );
    if (acquired.outcome?.$case !== 'grant') return reply.code(429).send({ error: 'no permit' });
    const cell = {
      keyId,
      route: Route.BRANDS,
      status: 200,
      day: new Date().toISOString().slice(0, 10),
      count: 1,
    };
    const grantId = acquired.outcome.value.id;
    taker.usage = [{ grantId, used: 1, returned: 0, closed: true, partial: false, cells: [cell] }];

    const queries = [{ identifier, superinvestors: true, suggest: false }];
    const { results } = await callUnary(
      catalog,
      catalog.lookup,
      { queries, weakMatches: true, maxBytes: 0 },
      options,
    );
    takersOf.get(accountId)?.idle.push(taker);
    const brand = results[0]?.brand;
    const record = brand && presentGrouped(brand, shown);
    return record ? reply.send(record) : reply.code(404).send({ error: 'not found' });
  },
);
process.on('message', () => process.send?.(process.cpuUsage()));
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
