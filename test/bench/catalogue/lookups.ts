import { CatalogServiceClient, type LookupResult } from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelFrom } from '@brand-data/runtime/test/channel-as.ts';
import { createRandom } from '@brand-data/testing/random';
import { type Asked, askFor, askInVain, type Kind } from './identifiers.ts';

/** One kind of look-up. */
export interface Sort {
  readonly kind: Kind;
  readonly hit: boolean;
  /** How many identifiers one call has. */
  readonly batch: number;
}

/** How long some calls took. */
export interface Timed {
  /** Milliseconds of each call, made one at a time. */
  readonly latencies: readonly number[];
  /** How many identifiers were looked up with several calls at once, and the milliseconds that this took in total. */
  readonly identifiers: number;
  readonly tookMs: number;
  /** The number of all calls. */
  readonly calls: number;
}

export interface LookupClient {
  /** Checks each answer, and rejects if one is wrong. */
  time(sort: Sort, options: { size: number; seed: number; calls: number }): Promise<Timed>;
  close(): void;
}

/**
 * How many calls run at once when the bench measures the rate. It measures the latency with one call at a time, because with
 * several a call mostly waits for the calls before it.
 */
const IN_FLIGHT = 4;
const DEADLINE_MS = 10_000;

/** @param certificates the folder with those of all identities */
export function lookupClient({
  target,
  certificates,
}: {
  target: string;
  certificates: string;
}): LookupClient {
  const transport = channelFrom(certificates, 'gateway', 'catalog');
  const catalog = connectChannel(CatalogServiceClient, target, transport);
  const lookUp = (asked: readonly Asked[]) =>
    callUnary(
      catalog,
      catalog.lookup,
      {
        queries: asked.map(({ identifier }) => ({ identifier, superinvestors: false, suggest: false })),
        weakMatches: true,
        maxBytes: 0,
      },
      { deadlineMs: DEADLINE_MS, waitForReady: true },
    );

  return {
    async time(sort, { size, seed, calls }) {
      const random = createRandom(seed);
      const ask = sort.hit ? askFor : askInVain;
      const batches = Array.from({ length: calls }, () =>
        Array.from({ length: sort.batch }, () => ask(sort.kind, size, random)),
      );
      const latencies: number[] = [];
      const send = async (batch: readonly Asked[]) => {
        const sentAt = performance.now();
        const { results } = await lookUp(batch);
        const tookMs = performance.now() - sentAt;
        for (const [place, asked] of batch.entries()) requireRight(asked, results[place], sort);
        return tookMs;
      };
      for (const batch of batches) latencies.push(await send(batch));
      const some = batches.slice(0, Math.ceil(calls / 4));
      const waiting = some.values();
      const sendAll = async () => {
        for (const batch of waiting) await send(batch);
      };
      const began = performance.now();
      await Promise.all(Array.from({ length: IN_FLIGHT }, sendAll));
      const tookMs = performance.now() - began;
      return { latencies, identifiers: some.length * sort.batch, tookMs, calls: calls + some.length };
    },
    close: () => catalog.close(),
  };
}

function requireRight(
  { identifier, id, mayMiss }: Asked,
  result: LookupResult | undefined,
  { hit }: Sort,
): void {
  const found = result?.brand?.id;
  if (found === undefined && mayMiss) return;
  const right = hit ? found !== undefined && (id === undefined || found === id) : found === undefined;
  if (!right)
    throw new Error(
      `"${identifier}" gave ${found ?? 'nothing'}, not ${hit ? (id ?? 'a company') : 'nothing'}`,
    );
}
