import {
  type AuditDetails,
  createKeyedBatches,
  Fault,
  type KeyedBatches,
  type OperatorCall,
} from '@brand-data/runtime';
import { Binary, type ClientSession } from 'mongodb';
import type { AccountDoc } from '../model/account.ts';
import type { KeyDoc } from '../model/key.ts';
import type { PlanDoc } from '../model/plan.ts';
import { requireOpenAccount } from './account-store.ts';
import { listRevocable, NOT_REVOKED } from './collections.ts';
import { type Database, StorePart } from './database.ts';

const MOST_KEYS = 100;
const MOST_REVOKED_LISTED = 400;
/** Searches for tokens that run at once, and tokens that wait for the next search of one lane. */
const SEARCH_LANES = 4;
const MOST_SEARCHES_WAITING = 1_000;

/** A key with its account and that account's plan, all as of one moment. */
export type FoundKey = KeyDoc & { account: AccountDoc; plan: PlanDoc };

/** The accounts' keys in the accounts database. */
export class KeyStore extends StorePart {
  readonly #searches: KeyedBatches<Buffer, Map<string, FoundKey>>;
  #searched = 0;

  constructor(database: Database) {
    super(database);
    this.#searches = createKeyedBatches((tokenHashes) => this.#findAll(tokenHashes), {
      most: MOST_SEARCHES_WAITING,
      tooMany: () => new Fault('unavailable', 'too many tokens are verified at once: try again'),
    });
  }

  /** Finds the key of a token. Searches that are requested while a command is under way share the next command. */
  async find(tokenHash: Buffer): Promise<FoundKey | undefined> {
    const lane = String(this.#searched++ % SEARCH_LANES);
    return (await this.#searches.add(lane, tokenHash)).get(tokenHash.toString('base64'));
  }

  async #findAll(tokenHashes: readonly Buffer[]): Promise<Map<string, FoundKey>> {
    const found = await this.database.read((session) =>
      this.#keys
        .aggregate<FoundKey>(
          [
            { $match: { tokenHash: { $in: tokenHashes.map((hash) => new Binary(hash)) } } },
            { $lookup: { from: 'accounts', localField: 'accountId', foreignField: '_id', as: 'account' } },
            { $unwind: '$account' },
            { $lookup: { from: 'plans', localField: 'account.plan', foreignField: '_id', as: 'plan' } },
            { $unwind: '$plan' },
          ],
          // A snapshot, because a majority read may see the three collections at three different moments.
          { session, readConcern: { level: 'snapshot' } },
        )
        .toArray(),
    );
    return new Map(found.map((key) => [key.tokenHash.toString('base64'), key]));
  }

  /** Rejects with a Fault unless there is the key. */
  get(id: string): Promise<KeyDoc> {
    return this.database.read((session) => this.#require(session, id));
  }

  create(key: KeyDoc, by: OperatorCall): Promise<KeyDoc> {
    return this.#change(by, 'CreateKey', async (session) => {
      const { label, allowedOrigins, expiresAt } = key;
      await this.#requireRoom(session, key.accountId, key.createdAt);
      await this.#keys.insertOne(key, { session });
      const origins = allowedOrigins.join(' ');
      return { key, result: key, details: { label, origins, expires: expiresAt?.toISOString() } };
    });
  }

  update(
    id: string,
    update: Partial<Pick<KeyDoc, 'label' | 'allowedOrigins'>>,
    by: OperatorCall,
  ): Promise<KeyDoc> {
    return this.#change(by, 'UpdateKey', async (session) => {
      const key = await this.#requireUnrevoked(session, id);
      await this.#keys.updateOne({ _id: id }, { $set: update }, { session });
      const { label, allowedOrigins: origins } = update;
      return {
        key,
        result: { ...key, ...update },
        details: {
          label,
          origins: origins && originsText(origins),
          label_before: label === undefined ? undefined : key.label,
          origins_before: origins && originsText(key.allowedOrigins),
        },
      };
    });
  }

  /**
   * Creates a key like the key `id`, and lets that one expire after the overlap, or at its own expiry if that is earlier. A key is
   * rotated only once: a second rotation would give the next key the short rest of the overlap as its expiry.
   */
  rotate(
    id: string,
    made: Pick<KeyDoc, '_id' | 'tokenHash' | 'createdAt'>,
    overlapMs: number,
    by: OperatorCall,
  ): Promise<{ key: KeyDoc; replaced: KeyDoc }> {
    return this.#change(by, 'RotateKey', async (session) => {
      const old = await this.#requireUnrevoked(session, id);
      const { accountId, label, allowedOrigins, limits } = old;
      const nowMs = made.createdAt.getTime();
      if (old.replacedBy !== undefined)
        throw new Fault(
          'failed_precondition',
          `the key was rotated already, and ${old.replacedBy} replaces it: rotate that one`,
        );
      if (old.expiresAt && old.expiresAt.getTime() <= nowMs)
        throw new Fault('failed_precondition', 'the key has expired: create another');
      await this.#requireRoom(session, accountId, made.createdAt);
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
      await this.#keys.insertOne(key, { session });
      await this.#keys.updateOne({ _id: id }, { $set: replacement }, { session });
      return {
        // No gateway knows the new key yet, so the notice is about the old one.
        key: old,
        result: { key, replaced: { ...old, ...replacement } },
        about: [made._id],
        details: {
          key: made._id,
          replaces: id,
          label,
          expires_before: old.expiresAt?.toISOString(),
          old_expires: replacement.expiresAt.toISOString(),
        },
      };
    });
  }

  /** If the key is revoked already, keeps the time of the first revocation, and sends the notice again. */
  revoke(id: string, now: Date, by: OperatorCall): Promise<KeyDoc> {
    return this.#change(by, 'RevokeKey', async (session) => {
      const key = await this.#require(session, id);
      const revokedAt = key.revokedAt ?? now;
      await this.#keys.updateOne({ _id: id }, { $set: { revokedAt } }, { session });
      const before = key.revokedAt ? 'revoked' : undefined;
      return { key, result: { ...key, revokedAt }, details: { label: key.label, before } };
    });
  }

  /** Makes a change of which the notice is about `key`. The trail names it and its account, beside what `work` returns. */
  #change<Result>(
    by: OperatorCall,
    method: string,
    work: (
      session: ClientSession,
    ) => Promise<{ key: KeyDoc; result: Result; about?: string[]; details: AuditDetails['details'] }>,
  ): Promise<Result> {
    return this.database.change(by, method, async (session) => {
      const { key, result, about = [], details } = await work(session);
      const { _id, accountId } = key;
      return {
        result,
        notice: { $case: 'keyId', value: _id },
        about: [accountId, _id, ...about],
        details: { account: accountId, key: _id, ...details },
      };
    });
  }

  list(accountId: string): Promise<KeyDoc[]> {
    return this.database.read((session) =>
      listRevocable(this.#keys, { accountId }, MOST_REVOKED_LISTED, session),
    );
  }

  get #keys() {
    return this.collections.keys;
  }

  async #requireRoom(session: ClientSession, accountId: string, now: Date): Promise<void> {
    await requireOpenAccount(this.collections, session, accountId);
    const unexpired = { $or: [{ expiresAt: { $exists: false } }, { expiresAt: { $gt: now } }] };
    const valid = { accountId, ...NOT_REVOKED, ...unexpired };
    if ((await this.#keys.countDocuments(valid, { session, limit: MOST_KEYS })) >= MOST_KEYS)
      throw new Fault(
        'resource_exhausted',
        `the account already has ${MOST_KEYS} valid keys: revoke one first`,
      );
  }

  async #requireUnrevoked(session: ClientSession, id: string): Promise<KeyDoc> {
    const key = await this.#require(session, id);
    if (key.revokedAt) throw new Fault('failed_precondition', 'the key is revoked: create another');
    return key;
  }

  async #require(session: ClientSession, id: string): Promise<KeyDoc> {
    const key = await this.#keys.findOne({ _id: id }, { session });
    if (key) return key;
    throw new Fault(
      'not_found',
      `there is no key ${JSON.stringify(id)}: bds key list shows the keys of an account`,
    );
  }
}

function originsText(origins: readonly string[]): string {
  return origins.join(' ') || 'all';
}
