import { monthOf, type ReplayUsageResponse, type ReportedUsage } from '@brand-data/contracts';
import { Fault, inBatches, type Mongo, systemClock } from '@brand-data/runtime';
import type { AnyBulkWriteOperation, Collection } from 'mongodb';
import {
  type LedgerKey,
  ledgerIdOf,
  newLedger,
  parseGrantId,
  parseLedgerId,
  usedOf,
} from '../ledger/ledger.ts';
import {
  CONCERNS,
  type Counts,
  cellsFromCounts,
  countsAt,
  ledgerCollections,
} from '../ledger/ledger-collections.ts';
import type { LedgerDatabase } from '../ledger/ledger-database.ts';
import { mergedBelow, withMerged } from '../ledger/ledger-usage.ts';
import { openMongoLedgerDatabase } from '../ledger/mongo-ledger-database.ts';
import { decodedEvent, Senders, type SentUsage } from '../ledger/senders.ts';
import { usageDefect } from '../ledger/usage-check.ts';
import { closeAllGrants, NUMBERS_LEFT_OUT, type ReportedGrant } from './close-all-grants.ts';

/** The usage of one grant that one sender has reported: the largest figures of all its messages. */
interface ReportedDoc {
  _id: string;
  ledgerId: string;
  grantId: string;
  sender: string;
  used: number;
  returned: number;
  cells?: Counts;
}

const COLLECTION = 'reported_usage';
const WRITES_AT_ONCE = 500;
const LEDGERS_AT_ONCE = 32;

/**
 * Brings restored ledgers up to date with the usage that gateways have reported in the usage streams, and closes all grants. Usage
 * is cumulative, so messages may come in any order and any number of times, also those whose usage the ledgers contain already.
 *
 * Only for ledgers that no other process uses: no metering runs, and no gateway holds a grant that has not ended. Every counted
 * call of these grants is then in the messages. Rejects with Fault `failed_precondition` if another process writes ledgers. If it
 * rejects, the ledgers have to be restored again.
 */
export async function billReportedUsage(
  mongo: Mongo,
  messages: AsyncIterable<ReportedUsage>,
): Promise<ReplayUsageResponse> {
  const database = await openMongoLedgerDatabase(mongo);
  const reported = mongo.db.collection<ReportedDoc>(COLLECTION, CONCERNS);
  await reported.drop();
  await reported.createIndex({ ledgerId: 1, _id: 1 });
  const read = await storeReported(reported, messages);
  const done: ReplayUsageResponse = { ...read, billed: 0, closed: 0, adopted: 0, disputed: 0 };
  const closeIn = async ({ ledgerId, grants }: LedgerReports): Promise<void> => {
    const key = parseLedgerId(ledgerId);
    if (!key) return;
    const { billed, closed, adopted, disputed } = await closeInLedger(database, key, grants);
    done.billed += billed;
    done.closed += closed;
    done.adopted += adopted;
    done.disputed += disputed;
  };
  await someAtOnce(reportsByLedger(reported.find().sort({ ledgerId: 1, _id: 1 })), closeIn);

  const { ledgers, grantCells } = ledgerCollections(mongo.db);
  // The grants that are still open are those that no message is about.
  const open = ledgers.find({ 'grants.0': { $exists: true } }, { projection: { _id: 1 } });
  await someAtOnce(
    open.map(({ _id }) => ({ ledgerId: _id, grants: [] })),
    closeIn,
  );
  await grantCells.deleteMany({});
  // Gateways may also have got grants of these ledgers that no message is about. Their numbers must not be given out again.
  const sinceMonth = monthOf(Date.now() - LONGEST_WITHOUT_GRANTS_MS);
  await ledgers.updateMany(
    { month: { $gte: sinceMonth } },
    { $inc: { nextGrant: NUMBERS_LEFT_OUT, version: 1 } },
  );
  await reported.drop();
  return done;
}

/** Longer than a month, so that the month before is included at any time. */
const LONGEST_WITHOUT_GRANTS_MS = 40 * 86_400_000;

interface LedgerReports {
  ledgerId: string;
  grants: readonly ReportedGrant[];
}

async function* reportsByLedger(docs: AsyncIterable<ReportedDoc>): AsyncGenerator<LedgerReports> {
  let ledgerId = '';
  let grants: ReportedGrant[] = [];
  for await (const doc of docs) {
    if (doc.ledgerId !== ledgerId && grants.length > 0) {
      yield { ledgerId, grants };
      grants = [];
    }
    ledgerId = doc.ledgerId;
    grants.push(reportedFromDoc(doc));
  }
  if (grants.length > 0) yield { ledgerId, grants };
}

/** Each write waits for the journal, so writes of several ledgers wait together. */
async function someAtOnce<T>(items: AsyncIterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  for await (const batch of inBatches(items, { items: LEDGERS_AT_ONCE })) await Promise.all(batch.map(work));
}

/** Keeps the largest figures of each grant in the database, because the grants of an hour may not fit into memory. */
async function storeReported(
  reported: Collection<ReportedDoc>,
  messages: AsyncIterable<ReportedUsage>,
): Promise<Pick<ReplayUsageResponse, 'messages' | 'unreadable'>> {
  const read = { messages: 0, unreadable: 0 };
  for await (const writes of inBatches(writesOf(messages, read), { items: WRITES_AT_ONCE }))
    await reported.bulkWrite(writes);
  return read;
}

/** @param read counts the messages, and those that cannot be billed */
async function* writesOf(
  messages: AsyncIterable<ReportedUsage>,
  read: Pick<ReplayUsageResponse, 'messages' | 'unreadable'>,
): AsyncGenerator<AnyBulkWriteOperation<ReportedDoc>> {
  const senders = new Senders(systemClock);
  for await (const { data, signature } of messages) {
    read.messages += 1;
    const event = decodedEvent(data);
    const sender = event && senders.ofEvent(event.holder, data, signature);
    if (event === undefined || sender === undefined) {
      read.unreadable += 1;
      continue;
    }
    for (const usage of event.usage) {
      if (usageDefect(usage) === undefined) yield* raise({ ...usage, sender });
      else read.unreadable += 1;
    }
  }
}

function raise({ grantId, sender, used, returned, cells }: SentUsage): AnyBulkWriteOperation<ReportedDoc>[] {
  const parsed = parseGrantId(grantId);
  if (!parsed) return [];
  return [
    {
      updateOne: {
        filter: { _id: `${grantId} ${sender}` },
        update: {
          $max: { used, returned, ...countsAt('cells', cells) },
          $setOnInsert: { grantId, sender, ledgerId: ledgerIdOf(parsed.key) },
        },
        upsert: true,
      },
    },
  ];
}

function reportedFromDoc({ _id, ledgerId, cells = {}, ...reported }: ReportedDoc): ReportedGrant {
  const { number = 0, secret = '' } = parseGrantId(reported.grantId) ?? {};
  return { ...reported, number, secret, cells: cellsFromCounts(cells) };
}

async function closeInLedger(
  database: LedgerDatabase,
  key: LedgerKey,
  grants: readonly ReportedGrant[],
): Promise<Pick<ReplayUsageResponse, 'billed' | 'closed' | 'adopted' | 'disputed'>> {
  const { ledger: stored, breakdowns } = await database.readWithBreakdowns(ledgerIdOf(key));
  const before = stored ?? newLedger(key);
  const { ledger, closed, adopted, disputed } = closeAllGrants(before, grants, breakdowns);
  const unmerged = ledger.closed.flatMap(({ number, cells }) => (cells ? [{ number, cells }] : []));
  await database.mergeIntoDays(key, unmerged, mergedBelow(before));
  const after = withMerged(ledger, new Set(unmerged.map(({ number }) => number)));
  const [isStored] = await database.storeLedgers([{ before: stored, after }]);
  if (!isStored)
    throw new Fault('failed_precondition', 'somebody else changes ledgers: stop metering and restore again');
  return { billed: usedOf(after) - usedOf(before), closed, adopted, disputed };
}
