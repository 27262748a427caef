import type { Binary, ClientSession, Collection, Db, Filter } from 'mongodb';
import type { AccountDoc } from '../model/account.ts';
import type { BlockDoc } from '../model/block.ts';
import type { KeyDoc } from '../model/key.ts';
import type { OperatorDoc } from '../model/operator.ts';
import type { PlanDoc } from '../model/plan.ts';
import type { AuditDoc } from '../trail/audit.ts';

/** The counter of changes of plans, accounts, keys and blocks. */
export const REVISION = 'revision';
/** Changes of operators take the next number of this counter, so that of two concurrent changes one starts again. */
export const OPERATORS_COUNTER = 'operators';
/** The counter that proves a read to be linearizable. It has no other use. */
export const PRESENT = 'present';

/** A notice to the gateways that has not been sent yet. */
export interface OutboxDoc {
  /** The change's revision. */
  _id: number;
  /** AccountChanged. */
  notice: Binary;
}

export type AccountsCollections = ReturnType<typeof collectionsOf>;

export function collectionsOf(db: Db) {
  return {
    plans: db.collection<PlanDoc>('plans'),
    accounts: db.collection<AccountDoc>('accounts'),
    deletedAccounts: db.collection<AccountDoc>('deleted_accounts'),
    keys: db.collection<KeyDoc>('keys'),
    blocks: db.collection<BlockDoc>('blocks'),
    outbox: db.collection<OutboxDoc>('outbox'),
    audit: db.collection<AuditDoc>('audit'),
    operators: db.collection<OperatorDoc>('operators'),
    counters: db.collection<{ _id: string; value: number }>('counters'),
  };
}

export const NOT_REVOKED = { revokedAt: { $exists: false } };

/**
 * Returns all documents that are not revoked, and of the revoked ones only the last `most`, so that the list has a bound, in the order
 * of their creation.
 */
export async function listRevocable<Doc extends { _id: string; createdAt: Date; revokedAt?: Date }>(
  documents: Collection<Doc>,
  filter: Filter<Doc>,
  most: number,
  session: ClientSession,
): Promise<Doc[]> {
  const open = documents.find({ ...filter, ...NOT_REVOKED } as Filter<Doc>, { session });
  const revoked = documents
    .find({ ...filter, revokedAt: { $gt: new Date(0) } } as Filter<Doc>, { session })
    .sort({ revokedAt: -1 })
    .limit(most);
  const listed = [...(await open.toArray()), ...(await revoked.toArray())] as Doc[];
  return listed.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}

/** Creates the indexes and the counters, which any replica may do at any time. Every query of the store uses an index, or _id. */
export async function createIndexes({
  accounts,
  keys,
  blocks,
  audit,
  operators,
  counters,
}: AccountsCollections): Promise<void> {
  await keys.createIndex({ tokenHash: 1 }, { unique: true });
  await accounts.createIndex({ plan: 1, _id: 1 });
  for (const expiring of [blocks, audit])
    await expiring.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  await audit.createIndex({ at: -1, _id: -1 });
  for (const field of ['operator', 'service', 'method', 'about'])
    await audit.createIndex({ [field]: 1, at: -1, _id: -1 });
  for (const _id of [REVISION, OPERATORS_COUNTER, PRESENT])
    await counters.updateOne({ _id }, { $setOnInsert: { value: 0 } }, { upsert: true });
  await operators.createIndex({ hash: 1 }, { unique: true });
  await operators.createIndex({ name: 1 });
  await operators.createIndex({ revokedAt: -1 });
  await keys.createIndex({ accountId: 1, revokedAt: -1 });
}
