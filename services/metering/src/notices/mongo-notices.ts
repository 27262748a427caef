import { randomUUID } from 'node:crypto';
import { DUPLICATE_KEY, endOfPage, inBatches, type Mongo, olderThan } from '@brand-data/runtime';
import type { Collection, Filter, UpdateFilter, WithId } from 'mongodb';
import {
  CONCERNS,
  expiryOf,
  type LedgerDoc,
  ledgerCollections,
  unmetWrites,
  withLedgerDeadline,
} from '../ledger/ledger-collections.ts';
import {
  type Delivery,
  type Notice,
  noticeIdOf,
  type PassedThreshold,
  passedWith,
  THRESHOLDS,
  type WebhookState,
} from './notice.ts';

interface NoticeDoc extends Omit<Notice, 'id'> {
  _id: string;
  /** When there is something to do. Absent: the notice is published, and delivered or given up. */
  dueAt?: Date;
  claim?: string;
  /** A notice expires together with its ledger. */
  expiresAt: Date;
}

const LEDGERS_AT_ONCE = 500;
const FIND_WITHIN_MS = 60_000;

export interface ClaimedNotice extends Notice {
  /** A random text by which the claim is known. */
  claim: string;
}

interface NoticePage {
  state: WebhookState | undefined;
  accountId: string;
  month: string;
  limit: number;
  /** `next` of the page before. Empty: from the first notice on. */
  after: string;
}

/** Opens the notices in metering's database, and creates their indexes. Every replica may do so at any time. */
export async function openMongoNotices(mongo: Mongo): Promise<MongoNotices> {
  const notices = new MongoNotices(mongo);
  await notices.createIndexes();
  return notices;
}

/** The notices. Each method rejects with Fault `unavailable` if the database does not answer in time. */
export class MongoNotices {
  readonly #ledgers: Collection<LedgerDoc>;
  readonly #notices: Collection<NoticeDoc>;

  constructor({ db }: Mongo) {
    this.#ledgers = ledgerCollections(db).ledgers;
    this.#notices = db.collection<NoticeDoc>('notices', CONCERNS);
  }

  async createIndexes(): Promise<void> {
    const isDue = { partialFilterExpression: { dueAt: { $exists: true } } };
    await this.#notices.createIndex({ dueAt: 1 }, isDue);
    await this.#notices.createIndex({ at: -1, _id: -1 });
    await this.#notices.createIndex({ accountId: 1, at: -1, _id: -1 });
    await this.#notices.createIndex({ 'webhook.state': 1, at: -1, _id: -1 });
    await this.#notices.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  }

  /**
   * Stores the notices that are not stored yet, and returns these.
   *
   * @param webhook whether they are to be delivered to a webhook
   */
  async add(
    passed: readonly PassedThreshold[],
    at: Date,
    webhook: 'pending' | 'none',
  ): Promise<PassedThreshold[]> {
    if (passed.length === 0) return [];
    const docs = passed.map(
      (each): NoticeDoc => ({
        _id: noticeIdOf(each),
        ...each,
        at,
        isPublished: false,
        dueAt: at,
        expiresAt: expiryOf(each),
        webhook: { state: webhook, attempts: 0, ...(webhook === 'pending' && { nextAt: at }) },
      }),
    );
    const known = await withLedgerDeadline(this.#insert(docs));
    return passed.filter((_, index) => !known.has(index));
  }

  /** Reads the ledgers of these months. Yields the thresholds that they have passed and that have no notice. */
  async *findMissing(months: readonly string[]): AsyncGenerator<readonly PassedThreshold[]> {
    const used = { $add: ['$closedUsed', { $sum: '$grants.used' }] };
    const isPassed = {
      $gte: [{ $multiply: ['$used', 100] }, { $multiply: ['$limit', Math.min(...THRESHOLDS)] }],
    };
    const ledgers = this.#ledgers.aggregate<Omit<PassedThreshold, 'threshold'>>(
      [
        { $match: { month: { $in: [...months] }, limit: { $gt: 0 } } },
        { $project: { _id: 0, accountId: 1, pool: 1, month: 1, limit: 1, used } },
        { $match: { $expr: isPassed } },
        { $project: { accountId: 1, pool: 1, month: 1, allowance: '$limit', used: 1 } },
      ],
      { maxTimeMS: FIND_WITHIN_MS, batchSize: LEDGERS_AT_ONCE },
    );
    for await (const some of inBatches(ledgers, { items: LEDGERS_AT_ONCE }))
      yield await withLedgerDeadline(this.#withoutNotice(some.flatMap(passedWith)));
  }

  /** Returns a notice that is to be published or delivered now. No other replica gets it before `until`. undefined: there is none. */
  async claim(now: Date, until: Date): Promise<ClaimedNotice | undefined> {
    const claim = randomUUID();
    const doc = await withLedgerDeadline(
      this.#notices.findOneAndUpdate(
        { dueAt: { $lte: now } },
        { $set: { dueAt: until, claim } },
        { sort: { dueAt: 1 }, returnDocument: 'after' },
      ),
    );
    return doc ? { ...noticeFromDoc(doc), claim } : undefined;
  }

  /**
   * Stores what came of a claimed notice. Does nothing if the claim has ended and another replica has the notice.
   *
   * @param dueAt when there is something to do again. undefined: nothing is left to do
   */
  async update(
    { id, claim }: ClaimedNotice,
    { isPublished, webhook }: { isPublished: boolean; webhook: Delivery },
    dueAt: Date | undefined,
  ): Promise<void> {
    const set = { isPublished, webhook, ...(dueAt && { dueAt }) };
    const unset = { claim: '', ...(dueAt === undefined && { dueAt: '' }) };
    const update = { $set: set, $unset: unset } as UpdateFilter<NoticeDoc>;
    await withLedgerDeadline(this.#notices.updateOne({ _id: id, claim }, update));
  }

  /** Returns a page of notices, the latest first. */
  async list({ state, accountId, month, limit, after }: NoticePage): Promise<{
    notices: Notice[];
    next: string;
  }> {
    const conditions: Filter<NoticeDoc>[] = [
      ...(state === undefined ? [] : [{ 'webhook.state': state }]),
      ...(accountId === '' ? [] : [{ accountId }]),
      ...(month === '' ? [] : [{ month }]),
      ...(after === '' ? [] : [olderThan(after)]),
    ];
    const filter = conditions.length === 0 ? {} : { $and: conditions };
    const found = this.#notices
      .find(filter)
      .sort({ at: -1, _id: -1 })
      .limit(limit + 1);
    const docs = await withLedgerDeadline(found.toArray());
    const last = docs.length > limit ? docs[limit - 1] : undefined;
    return { notices: docs.slice(0, limit).map(noticeFromDoc), next: last ? endOfPage(last) : '' };
  }

  /**
   * Makes notices due now, from the first attempt on. Skips notices that are due already. Returns the ids of those that it
   * changed.
   */
  async redeliver(ids: readonly string[] | 'all failed', now: Date): Promise<string[]> {
    const isNotDue: Filter<NoticeDoc> = {
      $or: [{ 'webhook.state': { $ne: 'pending' } }, { 'webhook.nextAt': { $gt: now } }],
    };
    const wanted: Filter<NoticeDoc> =
      ids === 'all failed' ? { 'webhook.state': 'failed' } : { _id: { $in: [...ids] }, ...isNotDue };
    const found = this.#notices.find(wanted, { projection: { _id: 1 } }).toArray();
    const chosen = (await withLedgerDeadline(found)).map(({ _id }) => _id);
    const webhook = { state: 'pending', attempts: 0, nextAt: now };
    // Without its claim, a replica that is publishing the notice meanwhile cannot store its earlier delivery.
    const update = { $set: { dueAt: now, webhook }, $unset: { claim: '' } } as UpdateFilter<NoticeDoc>;
    await withLedgerDeadline(this.#notices.updateMany({ _id: { $in: chosen }, ...isNotDue }, update));
    return chosen;
  }

  /** Returns the number of notices in these states. */
  async count(): Promise<Record<'pending' | 'failed', number>> {
    const of = (state: 'pending' | 'failed') =>
      withLedgerDeadline(this.#notices.countDocuments({ 'webhook.state': state }));
    const [pending, failed] = await Promise.all([of('pending'), of('failed')]);
    return { pending, failed };
  }

  async #withoutNotice(passed: readonly PassedThreshold[]): Promise<PassedThreshold[]> {
    const ids = passed.map(noticeIdOf);
    const known = await this.#notices.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray();
    const stored = new Set(known.map(({ _id }) => _id));
    return passed.filter((_, index) => !stored.has(ids[index] ?? ''));
  }

  /** Returns the failures of the notices that were stored already, by their places. */
  async #insert(docs: readonly NoticeDoc[]): Promise<ReadonlyMap<number, unknown>> {
    try {
      await this.#notices.insertMany(docs, { ordered: false });
      return new Map();
    } catch (error) {
      return unmetWrites(error, ({ code }) => code === DUPLICATE_KEY);
    }
  }
}

function noticeFromDoc({ _id, dueAt, claim, expiresAt, ...notice }: WithId<NoticeDoc>): Notice {
  return { id: _id, ...notice };
}
