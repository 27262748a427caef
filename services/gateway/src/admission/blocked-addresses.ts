import type { AccountsServiceClient, BlockedNetwork } from '@brand-data/contracts';
import { type Clock, callUnary, inNetworks, readAtScrape, type Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import { ProblemError } from '../answers/problem.ts';
import { followList, LIST_WITHIN_MS } from '../upstream/follow-list.ts';

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

/** Follows the list of blocked networks, and counts the requests that are refused. Returns a function that reads the list again. */
export function followBlocks(
  service: Pick<Service, 'log' | 'metrics' | 'onStop'>,
  accounts: AccountsServiceClient,
  blocked: BlockedAddresses,
): Promise<() => Promise<void>> {
  const refused = {
    name: 'gateway_blocked_requests_total',
    help: 'Requests that the gateway refused because an operator has blocked their address',
  };
  readAtScrape(Counter, service.metrics, refused, () => [[{}, blocked.refused()]]);
  return followList(service, 'the blocked addresses', async () => {
    const options = { deadlineMs: LIST_WITHIN_MS };
    blocked.replace((await callUnary(accounts, accounts.listBlockedNetworks, {}, options)).networks);
  });
}
