import { Fault, type OperatorCall } from '@brand-data/runtime';
import type { Binary, ClientSession, Collection } from 'mongodb';
import type { AccountDoc } from './account.ts';
import type { KeyDoc } from './key.ts';
import type { LinearizableReads } from './linearizable-reads.ts';
import type { NoticedChange } from './store.ts';
import { withDeadline } from './transactions.ts';

const MOST_KEYS = 100;
/** The list of an account's keys shows only this many revoked keys, those that were revoked last, so that it has a bound. */
const MOST_REVOKED_LISTED = 400;

/** The operations on accounts' keys, as a part of the store. See store.ts. */
export async function openKeyStore(
  keys: Collection<KeyDoc>,
  {
    change,
    linearizable,
    requireOpen,
  }: {
    change: NoticedChange;
    linearizable: LinearizableReads;
    /** Rejects with a Fault unless the account exists and is open. */
    requireOpen: (session: ClientSession, accountId: string) => Promise<AccountDoc>;
  },
) {
  await keys.createIndex({ accountId: 1, revokedAt: -1 });

  const notice = (value: string) => ({ $case: 'keyId' as const, value });

  async function requireRoom(session: ClientSession, accountId: string): Promise<void> {
    await requireOpen(session, accountId);
    const unrevoked = { accountId, revokedAt: { $exists: false } };
    if ((await keys.countDocuments(unrevoked, { session, limit: MOST_KEYS })) >= MOST_KEYS)
      throw new Fault('resource_exhausted', `the account already has ${MOST_KEYS} keys: revoke one first`);
  }

  async function requireUnrevoked(session: ClientSession, id: string): Promise<KeyDoc> {
    const key = await keys.findOne({ _id: id }, { session });
    if (!key) throw noKey(id);
    if (key.revokedAt) throw new Fault('failed_precondition', 'the key is revoked: create another');
    return key;
  }

  return {
    createKey: (key: KeyDoc, by: OperatorCall): Promise<KeyDoc> =>
      change(by, 'CreateKey', async (session) => {
        const { _id, accountId, label, allowedOrigins, expiresAt } = key;
        await requireRoom(session, accountId);
        await keys.insertOne(key, { session });
        const origins = allowedOrigins.join(' ');
        return {
          result: key,
          notice: notice(_id),
          about: [accountId, _id],
          details: { account: accountId, key: _id, label, origins, expires: expiresAt?.toISOString() },
        };
      }),

    updateKey: (
      id: string,
      update: Partial<Pick<KeyDoc, 'label' | 'allowedOrigins'>>,
      by: OperatorCall,
    ): Promise<KeyDoc> =>
      change(by, 'UpdateKey', async (session) => {
        const key = await requireUnrevoked(session, id);
        await keys.updateOne({ _id: id }, { $set: update }, { session });
        const { label, allowedOrigins: origins } = update;
        return {
          result: { ...key, ...update },
          notice: notice(id),
          about: [key.accountId, id],
          details: {
            account: key.accountId,
            key: id,
            label,
            origins: origins && originsText(origins),
            label_before: label === undefined ? undefined : key.label,
            origins_before: origins && originsText(key.allowedOrigins),
          },
        };
      }),

    /**
     * Creates a key like the key `id`, and lets that one expire after the overlap, or at its own expiry if that is earlier. A key is
     * rotated only once: a second rotation would give the next key the short rest of the overlap as its expiry.
     */
    rotateKey: (
      id: string,
      made: { _id: string; tokenHash: Binary; createdAt: Date },
      overlapMs: number,
      by: OperatorCall,
    ): Promise<{ key: KeyDoc; replaced: KeyDoc }> =>
      change(by, 'RotateKey', async (session) => {
        const old = await requireUnrevoked(session, id);
        const { accountId, label, allowedOrigins, limits } = old;
        const nowMs = made.createdAt.getTime();
        if (old.replacedBy !== undefined)
          throw new Fault(
            'failed_precondition',
            `the key was rotated already, and ${old.replacedBy} replaces it: rotate that one`,
          );
        if (old.expiresAt && old.expiresAt.getTime() <= nowMs)
          throw new Fault('failed_precondition', 'the key has expired: create another');
        await requireRoom(session, accountId);
        const key: KeyDoc = {
          ...made,
          accountId,
          label,
          allowedOrigins,
          ...(old.expiresAt && { expiresAt: old.expiresAt }),
          ...(limits && { limits }),
        };
        const endMs = Math.min(nowMs + overlapMs, old.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY);
        const replacement = { expiresAt: new Date(endMs), replacedBy: made._id };
        await keys.insertOne(key, { session });
        await keys.updateOne({ _id: id }, { $set: replacement }, { session });
        return {
          result: { key, replaced: { ...old, ...replacement } },
          // No gateway knows the new key yet.
          notice: notice(id),
          about: [accountId, id, made._id],
          details: {
            account: accountId,
            key: made._id,
            replaces: id,
            label,
            expires_before: old.expiresAt?.toISOString(),
            old_expires: replacement.expiresAt.toISOString(),
          },
        };
      }),

    /** If the key is revoked already, keeps the time of the first revocation, and sends the notice again. */
    revokeKey: (id: string, now: Date, by: OperatorCall): Promise<KeyDoc> =>
      change(by, 'RevokeKey', async (session) => {
        const key = await keys.findOne({ _id: id }, { session });
        if (!key) throw noKey(id);
        const { accountId, label } = key;
        const revokedAt = key.revokedAt ?? now;
        await keys.updateOne({ _id: id }, { $set: { revokedAt } }, { session });
        return {
          result: { ...key, revokedAt },
          notice: notice(id),
          about: [accountId, id],
          details: { account: accountId, key: id, label, before: key.revokedAt ? 'revoked' : undefined },
        };
      }),

    /** All keys that are not revoked, and up to MOST_REVOKED_LISTED that were revoked last. In the order of their creation. */
    listKeys: async (accountId: string): Promise<KeyDoc[]> => {
      const listed = await withDeadline(
        linearizable(async (session) => [
          ...(await keys.find({ accountId, revokedAt: { $exists: false } }, { session }).toArray()),
          ...(await keys
            .find({ accountId, revokedAt: { $gt: new Date(0) } }, { session })
            .sort({ revokedAt: -1 })
            .limit(MOST_REVOKED_LISTED)
            .toArray()),
        ]),
      );
      return listed.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
    },
  };
}

function originsText(origins: readonly string[]): string {
  return origins.join(' ') || 'all';
}

function noKey(id: string): Fault {
  return new Fault(
    'not_found',
    `there is no key ${JSON.stringify(id)}: bds key list shows the keys of an account`,
  );
}
