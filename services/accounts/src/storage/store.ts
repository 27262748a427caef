import type { Mongo, Service } from '@brand-data/runtime';
import { AccountStore } from './account-store.ts';
import { collectionsOf, createIndexes, type OutboxDoc } from './collections.ts';
import { Database } from './database.ts';
import { KeyStore } from './key-store.ts';
import { OperatorStore } from './operator-store.ts';
import { PlanStore } from './plan-store.ts';
import { TrailStore } from './trail-store.ts';

/**
 * The accounts database. Every operation rejects with Fault `unavailable` while the database cannot be reached. Every read
 * is linearizable, also just after an election: see README.md.
 */
export class Store {
  readonly plans: PlanStore;
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly operators: OperatorStore;
  readonly trail: TrailStore;
  readonly #database: Database;

  private constructor(database: Database) {
    this.plans = new PlanStore(database);
    this.accounts = new AccountStore(database);
    this.keys = new KeyStore(database);
    this.operators = new OperatorStore(database);
    this.trail = new TrailStore(database);
    this.#database = database;
  }

  /** Creates the indexes, which any replica may do at any time. */
  static async open(
    service: Pick<Service, 'log'>,
    { client, db }: Mongo,
    options: { auditDays: number },
  ): Promise<Store> {
    const collections = collectionsOf(db);
    await createIndexes(collections);
    return new Store(new Database(service, client, collections, options));
  }

  /** Returns the first `most` notices that are still in the outbox, in the order of their revisions. */
  listOutbox(most: number): Promise<OutboxDoc[]> {
    const { outbox } = this.#database.collections;
    return this.#database.read((session) =>
      outbox.find({}, { session }).sort({ _id: 1 }).limit(most).toArray(),
    );
  }

  async removeFromOutbox(revision: number): Promise<void> {
    await this.#database.write(this.#database.collections.outbox.deleteOne({ _id: revision }));
  }
}
