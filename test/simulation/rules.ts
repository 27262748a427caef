import { type AcquireRequest, endsWithinMs, PARKED_USAGE } from '@brand-data/contracts';
import { GrantBook, type NextAcquire } from '@brand-data/gateway/src/quota/grant-book.ts';
import type { HeldGrant } from '@brand-data/gateway/src/quota/held-grant.ts';
import type { Holding } from '@brand-data/gateway/src/quota/holding.ts';
import type { Metering } from '@brand-data/metering/src/granting/metering.ts';
import { type Ledger, parseGrantId } from '@brand-data/metering/src/ledger/ledger.ts';
import type { LedgerDatabase } from '@brand-data/metering/src/ledger/ledger-database.ts';
import type { LedgerStore } from '@brand-data/metering/src/ledger/ledger-store.ts';
import type { LedgerInput } from '@brand-data/metering/src/ledger/senders.ts';
import type { NotApplied } from '@brand-data/metering/src/ledger/usage-by-ledger.ts';
import { mergeByGrant } from '@brand-data/metering/src/ledger/usage-merge.ts';
import type { SettlerStore } from '@brand-data/metering/src/settling/settler.ts';
import type { UsageMessage, UsageStreams } from '@brand-data/metering/src/usage/usage-streams.ts';
import type { Instant } from '@brand-data/runtime';
import { ALL_DATABASE_RULES } from './ledger-documents.ts';
import type { MongoRules } from './mongo.ts';
import { signAllowance } from './signed-allowances.ts';

/**
 * The parts of the product that a world runs. Production code cannot switch a rule off. Here an object that breaks the rule takes
 * the place of a part, or stands before it.
 */
export interface Rules {
  Book: typeof GrantBook;
  mongo: MongoRules;
  /** The database as metering's ledgers see it. */
  database(database: LedgerDatabase): LedgerDatabase;
  /** The ledgers as all parts of metering see them. */
  store(store: LedgerStore): LedgerStore;
  /** The ledgers as only the settler sees them. */
  settlersStore(store: SettlerStore): SettlerStore;
  /** The ledgers as only the consumer of the streams sees them. */
  consumersStore(store: LedgerStore): LedgerStore;
  /** The streams as only the settler's barrier sees them. */
  barrierStreams(streams: UsageStreams): UsageStreams;
  /** Called with messages before the consumer applies them. */
  taken(batch: readonly UsageMessage[]): void;
  /** The streams as only the consumer sees them. */
  consumersStreams(streams: UsageStreams): UsageStreams;
  /** The streams as only retention sees them. */
  retentionStreams(streams: UsageStreams): UsageStreams;
  /** Metering as gateways see it. */
  metering(metering: Metering): Metering;
}

const unchanged = <Part>(part: Part): Part => part;

export const ALL_RULES: Rules = {
  Book: GrantBook,
  mongo: { ...ALL_DATABASE_RULES, noLockOutlivesItsHolder: true },
  database: unchanged,
  store: unchanged,
  settlersStore: unchanged,
  consumersStore: unchanged,
  barrierStreams: unchanged,
  taken: () => {},
  consumersStreams: unchanged,
  retentionStreams: unchanged,
  metering: unchanged,
};

const instead = (parts: Partial<Rules>): Rules => ({ ...ALL_RULES, ...parts });
const mongo = (rules: Partial<MongoRules>): Rules => instead({ mongo: { ...ALL_RULES.mongo, ...rules } });

class BookThatTimesFromRetries extends GrantBook {
  override nextAcquire(holding: Holding, waiting: number, now: Instant): NextAcquire {
    const next = super.nextAcquire(holding, waiting, now);
    if (holding.pendingAcquire) holding.pendingAcquire.since = now;
    return next;
  }
}

class BookThatTrustsLateAcknowledgements extends GrantBook {
  override acknowledgementCounts(): boolean {
    return true;
  }
}

class BookThatClosesBusyGrants extends GrantBook {
  override retire(holding: Holding, now: Instant): HeldGrant[] {
    const open = holding.grants.filter((grant) => !grant.closed);
    super.retire(holding, now);
    for (const grant of open) if (grant.retired) grant.closed = true;
    return open.filter((grant) => grant.closed);
  }
}

class BookWithoutMonths extends GrantBook {
  override isInPeriod(): boolean {
    return true;
  }
}

/** Returns the part with these methods in place of its own. */
function replacing<Part extends object>(part: Part, methods: Partial<Part>): Part {
  return new Proxy(part, {
    get: (target, name) => {
      const member = Reflect.get(name in methods ? methods : target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** Returns a database that shows metering other ledgers than it holds. */
function showing(altered: Partial<Ledger>): Rules['database'] {
  return (database) =>
    replacing(database, {
      readLedgers: async (ids) =>
        (await database.readLedgers(ids)).map((ledger) => ({ ...ledger, ...altered })),
      readWithBreakdowns: async (id) => {
        const { ledger, breakdowns } = await database.readWithBreakdowns(id);
        return { ledger: ledger && { ...ledger, ...altered }, breakdowns };
      },
    });
}

function applyingWith(applyUsage: (store: LedgerStore) => LedgerStore['applyUsage']): Rules['store'] {
  return (store) => replacing(store, { applyUsage: applyUsage(store) });
}

function answering(altered: (answer: NotApplied) => Partial<NotApplied>): Rules['store'] {
  return applyingWith((store) => async (usage) => {
    const answer = await store.applyUsage(usage);
    return { ...answer, ...altered(answer) };
  });
}

/** Bills usage of closed grants again. `closes`: only usage that closes its grant, or only usage that does not. */
function billingClosedGrants({ closes }: { closes: boolean }): Rules['store'] {
  return applyingWith((store) => async (usage) => {
    for (const given of mergeByGrant(usage)) {
      const parsed = parseGrantId(given.grantId);
      if (given.closed !== closes || !parsed) continue;
      const decide = (ledger: Ledger) => ({ ledger: billedAgain(ledger, parsed.number, given), result: {} });
      await store.update(parsed.key, decide).catch(() => {});
    }
    return store.applyUsage(usage);
  });
}

function billedAgain(ledger: Ledger, number: number, { used, cells }: LedgerInput): Ledger {
  const isClosed = number < ledger.nextGrant && ledger.grants.every((grant) => grant.number !== number);
  if (!isClosed) return ledger;
  const again = { number, used, cells: cells.length > 0 ? cells : undefined };
  return { ...ledger, closedUsed: ledger.closedUsed + used, closed: [...ledger.closed, again] };
}

/** The settler learns of lifetimes that are shorter by all that it waits after a lifetime. */
function withoutWait(store: SettlerStore): SettlerStore {
  const graceMs = endsWithinMs(0);
  const share = endsWithinMs(1) - graceMs;
  return replacing(store, {
    listOverdue: async (nowMs, limit) => {
      const overdue = await store.listOverdue(nowMs, limit);
      return overdue.map(({ grantId, ttlMs }) => ({ grantId, ttlMs: (ttlMs - graceMs) / share }));
    },
  });
}

/** Every sender counts as the holder that it names. */
function withoutSenders(): Partial<Rules> {
  return {
    store: applyingWith(
      (store) => (usage) => store.applyUsage(usage.map(({ sender, ...unsigned }) => unsigned)),
    ),
    metering: (metering) =>
      replacing(metering, {
        acquire: (request) => metering.acquire(request, request.holder),
      }),
  };
}

/** Returns the request as if accounts had signed the limit that it names. */
function signedAsAsked(request: AcquireRequest): AcquireRequest {
  const { accountId, pool, limit, limitRevision } = request;
  const untilMs = Number.MAX_SAFE_INTEGER;
  const limits = new Map([[pool, limit]]);
  return { ...request, allowance: signAllowance({ accountId, limitRevision, limits, untilMs }) };
}

const allAcknowledged = async (): Promise<number> => Number.POSITIVE_INFINITY;

/** For each rule, the parts with which only this rule is off. */
export const WITHOUT = {
  'marker-barrier': instead({
    barrierStreams: (streams) =>
      replacing(streams, { list: async () => [], mark: async () => 0, acknowledgedUpTo: allAcknowledged }),
  }),
  'marker-in-each-stream': instead({
    barrierStreams: (streams) => replacing(streams, { list: async () => (await streams.list()).slice(0, 1) }),
  }),
  'parked-usage-awaited': instead({
    barrierStreams: (streams) =>
      replacing(streams, {
        mark: async (stream, holder) =>
          stream.name === PARKED_USAGE.name ? 0 : streams.mark(stream, holder),
        acknowledgedUpTo: async (stream) =>
          stream.name === PARKED_USAGE.name ? allAcknowledged() : streams.acknowledgedUpTo(stream),
      }),
  }),
  'unknown-waits-apart': instead({
    consumersStreams: (streams) =>
      replacing(streams, {
        park: async () => {
          throw new Error('nothing is parked');
        },
      }),
  }),
  'acknowledgement-deadline': instead({ Book: BookThatTrustsLateAcknowledgements }),
  'grace-and-drift': instead({ settlersStore: withoutWait }),
  'time-from-first-send': instead({ Book: BookThatTimesFromRetries }),
  'stale-seq-refused': instead({ database: showing({ holders: [] }) }),
  'closed-report-refused': instead({ store: answering(() => ({ refused: [] })) }),
  'closed-only-when-quiet': instead({ Book: BookThatClosesBusyGrants }),
  'closed-events-dropped': instead({ store: billingClosedGrants({ closes: false }) }),
  'closing-only-if-open': instead({ store: billingClosedGrants({ closes: true }) }),
  'signed-limits': instead({
    metering: (metering) =>
      replacing(metering, {
        acquire: (request, sender) => metering.acquire(signedAsAsked(request), sender),
      }),
  }),
  'own-grants-only': instead(withoutSenders()),
  'refused-only-if-proven': instead({
    store: answering(({ refused, unknown }) => ({ refused: [...refused, ...unknown], unknown: [] })),
  }),
  'compare-and-set': mongo({ compareAndSet: false }),
  'merged-once': mongo({ mergedOnce: false }),
  'no-lock-outlives-its-holder': mongo({ noLockOutlivesItsHolder: false }),
  'revision-order': instead({ database: showing({ limitRevision: -1 }) }),
  'months-cut': instead({ Book: BookWithoutMonths }),
  'opened-in-time': mongo({ openedInTime: false }),
  'acknowledged-once-stored': instead({
    taken: (batch) => {
      for (const message of batch) message.ack();
    },
  }),
  'unstored-comes-again': instead({ consumersStore: answering(() => ({ unavailable: [], unknown: [] })) }),
  'only-applied-purged': instead({
    retentionStreams: (streams) => replacing(streams, { acknowledgedUpTo: allAcknowledged }),
  }),
} as const satisfies Record<string, Rules>;

export type RuleName = keyof typeof WITHOUT;
export const RULE_NAMES = Object.keys(WITHOUT).filter((name): name is RuleName => name in WITHOUT);

export function isRuleName(name: string): name is RuleName {
  return Object.hasOwn(WITHOUT, name);
}
