import { randomUUID } from 'node:crypto';
import type { AccountChanged } from '@brand-data/contracts';
import { MongoClient } from 'mongodb';
import { afterAll, expect, inject, test } from 'vitest';
import { finishRestore } from '../src/restoring/finish-restore.ts';
import { collectionsOf } from '../src/storage/collections.ts';

const client = new MongoClient(inject('mongodbUrl'));
const db = client.db(`restored-${randomUUID()}`);

afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

test('an account that an interrupted restore has deleted keeps its times when the restore is ended again', async () => {
  const { accounts, deletedAccounts } = collectionsOf(db);
  const times = { createdAt: new Date(1_000), closedAt: new Date(2_000) };
  const names = { name: 'Acme', plan: 'free', ownerReference: '', revision: 1 };
  await accounts.insertOne({ _id: 'acme', ...names, ...times } as never);
  const change = { subject: { $case: 'accountId', value: 'acme' }, revision: 1e9, deleted: true };
  const request = { restoreId: 'one', revokeChangedKeys: false, services: [], copyEndedAt: '' };
  const by = { operator: { name: 'ada', role: 'owner', credentialId: '' } };
  const end = () =>
    finishRestore(db, { ...request, changes: [change as AccountChanged] }, { by: by as never, auditDays: 1 });
  expect(await end()).toMatchObject({ deletedAccounts: ['acme'] });
  const deleted = await deletedAccounts.findOne({ _id: 'acme' });
  expect(deleted).toMatchObject(times);
  await end();
  expect(await deletedAccounts.findOne({ _id: 'acme' })).toEqual(deleted);
});
