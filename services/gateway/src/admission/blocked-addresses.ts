import type { AccountsServiceClient, BlockedNetwork } from '@brand-data/contracts';
import { type Clock, callUnary, inNetworks, type Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import { ProblemError } from '../answers/problem.ts';
import { readAtScrape } from '../metrics/series.ts';

/** Notices come at once. This is for changes that send none, such as the restore of a copy. */
const LIST_EVERY_MS = 60_000;
const LIST_AGAIN_MS = 2_000;
const LIST_WITHIN_MS = 5_000;

/** The networks that operators have blocked. Without a block, a request costs one comparison. */
export class BlockedAddresses {
  readonly #clock: Pick<Clock, 'now'>;
  #networks: readonly BlockedNetwork[] = [];
  #isBlocked: (address: string) => boolean = () => false;
  #firstExpiryMs = 0;
  #refused = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  replace(networks: readonly BlockedNetwork[]): void {
    const nowMs = this.#clock.now().wallMs;
    this.#networks = networks.filter(({ expiresAtMs }) => expiresAtMs > nowMs);
    this.#isBlocked = inNetworks(this.#networks.map(({ network }) => network));
    this.#firstExpiryMs = Math.min(...this.#networks.map(({ expiresAtMs }) => expiresAtMs));
  }

  /** Returns the error with which to refuse a request of this client, or undefined. Reads `ip` only if there is a block. */
  refusalOf(client: { readonly ip: string }): ProblemError | undefined {
    if (this.#networks.length === 0) return undefined;
    if (this.#clock.now().wallMs >= this.#firstExpiryMs) this.replace(this.#networks);
    if (!this.#isBlocked(client.ip)) return undefined;
    this.#refused += 1;
    const detail = 'Requests from your address are refused for now. Ask the operator of this API why.';
    return new ProblemError('address_blocked', detail);
  }

  refused(): number {
    return this.#refused;
  }
}

/**
 * Lists the blocked networks at accounts, and again every minute. If accounts does not answer, the gateway keeps the list that it
 * has, and a gateway that starts goes on without one until accounts answers.
 *
 * @returns a function that lists them again, and resolves when the answer is in force
 */
export async function followBlocks(
  service: Pick<Service, 'log' | 'metrics' | 'onStop'>,
  accounts: AccountsServiceClient,
  blocked: BlockedAddresses,
): Promise<() => Promise<void>> {
  const options = { deadlineMs: LIST_WITHIN_MS };
  let running = Promise.resolve();
  let next: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const list = async (): Promise<void> => {
    clearTimeout(timer);
    let pauseMs = LIST_EVERY_MS;
    try {
      blocked.replace((await callUnary(accounts, accounts.listBlockedNetworks, {}, options)).networks);
    } catch (error) {
      pauseMs = LIST_AGAIN_MS;
      service.log.warn({ err: { message: (error as Error).message } }, 'the blocked addresses are not known');
    }
    timer = setTimeout(again, pauseMs).unref();
  };
  /** A list that is under way proves nothing, because it may have been read before the change. */
  const again = (): Promise<void> => {
    next ??= running.then(() => {
      next = undefined;
      running = list();
      return running;
    });
    return next;
  };
  await again();
  service.onStop('blocked addresses', () => clearTimeout(timer));
  const refused = {
    name: 'gateway_blocked_requests_total',
    help: 'Requests that the gateway refused because an operator has blocked their address',
  };
  readAtScrape(Counter, service.metrics, refused, () => [[{}, blocked.refused()]]);
  return again;
}
