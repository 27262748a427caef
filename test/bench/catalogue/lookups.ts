import { CatalogServiceClient, type LookupResult } from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { createRandom } from '../../simulation/random.ts';
import { type Asked, askFor, askInVain, type Kind } from './identifiers.ts';

/** One sort of look-up. */
export interface Sort {
  readonly kind: Kind;
  readonly hit: boolean;
  /** Identifiers in one call. */
  readonly batch: number;
}

/** What some calls took, in milliseconds: all together, and each. */
export interface Timed {
  readonly tookMs: number;
  readonly latencies: readonly number[];
}

export interface LookupClient {
  /** Each answer is checked. Rejects when one is wrong. */
  time(sort: Sort, options: { size: number; seed: number; calls: number }): Promise<Timed>;
  close(): void;
}

/** Few enough that most of a look-up's time is its own, and not that of others before it. */
const IN_FLIGHT = 4;
const DEADLINE_MS = 10_000;

export function lookupClient(target: string): LookupClient {
  const catalog = connectChannel(CatalogServiceClient, target);
  const lookUp = (asked: readonly Asked[]) =>
    callUnary(
      catalog,
      catalog.lookup,
      { queries: asked.map(({ identifier }) => ({ identifier, superinvestors: false })) },
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
      const waiting = batches.values();
      const began = performance.now();
      const send = async () => {
        for (const batch of waiting) {
          const sentAt = performance.now();
          const { results } = await lookUp(batch);
          latencies.push(performance.now() - sentAt);
          for (const [place, asked] of batch.entries()) requireRight(asked, results[place], sort);
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, send));
      return { tookMs: performance.now() - began, latencies };
    },
    close: () => catalog.close(),
  };
}

function requireRight({ identifier, id }: Asked, result: LookupResult | undefined, { hit }: Sort): void {
  const found = result?.brand?.id;
  const right = hit ? found !== undefined && (id === undefined || found === id) : found === undefined;
  if (!right)
    throw new Error(
      `"${identifier}" gave ${found ?? 'nothing'}, not ${hit ? (id ?? 'a company') : 'nothing'}`,
    );
}
