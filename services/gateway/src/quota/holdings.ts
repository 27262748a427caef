import type { Allowance, Holding } from './holding.ts';

type Place = Pick<Allowance, 'accountId' | 'pool'>;

/**
 * The holdings of a gateway by account and pool. Each call searches its holding, so the search joins no key: the hash of an account's
 * id is known already. Few accounts use more than one pool, so their holdings are a list.
 */
export class Holdings {
  readonly #ofAccount = new Map<string, readonly Holding[]>();

  get({ accountId, pool }: Place): Holding | undefined {
    const holdings = this.#ofAccount.get(accountId);
    if (!holdings) return undefined;
    for (const holding of holdings) if (holding.pool === pool) return holding;
    return undefined;
  }

  add(holding: Holding): void {
    this.#ofAccount.set(holding.accountId, [...(this.#ofAccount.get(holding.accountId) ?? []), holding]);
  }

  delete({ accountId, pool }: Place): void {
    const others = this.#ofAccount.get(accountId)?.filter((holding) => holding.pool !== pool) ?? [];
    if (others.length > 0) this.#ofAccount.set(accountId, others);
    else this.#ofAccount.delete(accountId);
  }

  all(): Holding[] {
    return [...this.#ofAccount.values()].flat();
  }
}
