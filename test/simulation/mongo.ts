import { type LedgerKey, ledgerIdOf, parseGrantId } from '@brand-data/metering/src/ledger/ledger.ts';
import type { LedgerChange, LedgerDatabase } from '@brand-data/metering/src/ledger/ledger-database.ts';
import { Fault } from '@brand-data/runtime';
import type { Random } from '@brand-data/testing/random';
import {
  type DatabaseRules,
  type Documents,
  mergesOf,
  NO_DOCUMENTS,
  reads,
  type Write,
  writes,
} from './ledger-documents.ts';
import type { Process } from './machine.ts';
import type { Network } from './network.ts';
import { REPLICAS } from './plan.ts';
import type { World } from './world.ts';

export const MONGO = 'mongo';
const GIVES_UP_AFTER_MS = 3_000;
/**
 * For up to this time a new primary takes writes, but does not know which of its writes a majority has. Until it knows, its reads
 * show an old state.
 */
const READS_BEHIND_MS = 1_000;
/** The old state that reads show lacks at most this many writes. */
const STATES_BEHIND = 12;
/** A deposed primary answers for at most this long, until it learns of its successor. */
const DEPOSED_ANSWERS_MS = 8_000;
/** The time to replicate a write to another member of the replica set. */
const REPLICATED_MS = [0.5, 4] as const;
/** How long a lock is held if its holder dies. mongod ends old transactions only from time to time. */
const LOCKED_MS = [60_000, 90_000] as const;

/**
 * The replica set that all metering replicas share, as its clients see it: a sequence of states, one after each write. Once a
 * majority of the members has a state, it is never taken back, and the primary answers the write that led to it. When the primary
 * is lost, states that no majority has may be taken back, and for some time reads show an old durable state.
 */
export interface Mongo {
  slow: boolean;
  /** From now on there is no primary. */
  losePrimary(): void;
  /** Elects another primary. `deposed`: the former one keeps running, and some clients still use it. */
  electPrimary(options: { deposed: boolean }): void;
  connect(client: Process): LedgerDatabase;
  /** The state that a majority has. */
  durable(): Documents;
}

/** A ledger whose bill may have changed. */
export type ChangedLedger = Pick<LedgerKey, 'accountId' | 'month'>;

/**
 * `noLockOutlivesItsHolder`: a replica closes a grant with one write. Otherwise it locks the ledger between two commands, as an
 * earlier version did.
 */
export interface MongoRules extends DatabaseRules {
  noLockOutlivesItsHolder: boolean;
}

/** One member of the replica set, as its clients reach it. */
interface Primary {
  latest: Documents;
  /** Its writes that a majority does not have yet, in order. */
  pending: { documents: Documents; replicated: () => void }[];
  durable: Documents;
  /** Earlier durable states, the latest last. */
  earlier: Documents[];
  /** The old state that its reads show. undefined: they show the durable one. */
  behind: Documents | undefined;
  /** Its writes are not answered before this time. */
  answersFromMs: number;
}

/** @param changed called as soon as the durable state changes */
export function createMongo(
  world: World,
  random: Random,
  network: Network,
  rules: MongoRules,
  changed: (ledgers: readonly ChangedLedger[]) => void,
): Mongo {
  let current = newPrimary(NO_DOCUMENTS);
  let hasPrimary = true;
  /** The clients for which a deposed primary is still the primary. */
  const deceived = new Map<string, { primary: Primary; untilMs: number }>();
  const locks = new Map<string, { holder: Process; untilMs: number }>();

  const primaryFor = (client: string): Primary | undefined => {
    const former = deceived.get(client);
    if (former && world.now() < former.untilMs) return former.primary;
    return hasPrimary ? current : undefined;
  };

  /** A majority now has all of the primary's writes up to this one. */
  const replicate = (primary: Primary, write: Primary['pending'][number]): void => {
    if (primary !== current || !hasPrimary || !primary.pending.includes(write)) return;
    for (let next = primary.pending.shift(); next; next = primary.pending.shift()) {
      const before = primary.durable;
      primary.earlier = [...primary.earlier.slice(1 - STATES_BEHIND), before];
      primary.durable = next.documents;
      changed(changedBetween(before, next.documents));
      next.replicated();
      if (next === write) return;
    }
  };

  const write = <Answer>(primary: Primary, change: Write<Answer>, replicated: () => void): Answer => {
    const { after, answer } = change(primary.latest);
    primary.latest = after;
    const pending = { documents: after, replicated };
    primary.pending.push(pending);
    const waitMs = Math.max(0, primary.answersFromMs - world.now());
    world.after(waitMs + random.between(...REPLICATED_MS), () => replicate(primary, pending));
    return answer;
  };

  /** One command of a client: it is sent, performed and answered, and has a deadline. */
  const ask = <Answer>(
    client: Process,
    perform: (primary: Primary, answer: (value: Answer) => void, fail: () => void) => void,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      let ended = false;
      const end = (settle: () => void) => {
        if (!ended) settle();
        ended = true;
      };
      const fail = () => end(() => reject(new Fault('unavailable', 'the database did not answer in time')));
      void client.clock.sleep(GIVES_UP_AFTER_MS).then(fail);
      const { name } = client.machine;
      const reply = (settle: () => void) =>
        network.send({ from: MONGO, to: name, arrive: () => client.reach(settle) });
      const work = () => {
        const primary = primaryFor(name);
        if (primary)
          perform(
            primary,
            (value) => reply(() => end(() => resolve(value))),
            () => reply(fail),
          );
        // Some clients get the answer that there is no primary. The others wait until their deadline.
        else if (random.chance(0.5)) reply(fail);
      };
      const arrive = () => world.after(mongo.slow ? random.between(50, 1_500) : random.between(0.3, 3), work);
      network.send({ from: name, to: MONGO, sender: client, arrive });
    });

  const read = <Answer>(
    client: Process,
    of: (documents: Documents) => Answer | Promise<Answer>,
  ): Promise<Answer> =>
    ask(client, ({ behind, durable }, answer) => {
      void Promise.resolve(of(behind ?? durable)).then(answer);
    });

  /** The single writes of one command, answered once all are durable. If the command fails, some of them may be durable. */
  const writeAll = <Answer>(client: Process, changes: readonly Write<Answer>[]): Promise<Answer[]> =>
    ask(client, (primary, answer) => {
      let left = changes.length;
      const answers: Answer[] = [];
      const replicated = () => {
        left -= 1;
        if (left === 0) answer(answers);
      };
      if (left === 0) answer([]);
      for (const change of changes) answers.push(write(primary, change, replicated));
    });

  const isLocked = (client: Process, ids: readonly string[]): boolean =>
    ids.some((id) => {
      const lock = locks.get(id);
      return lock !== undefined && lock.holder !== client && world.now() < lock.untilMs;
    });

  const waitForLocks = async (client: Process, ids: readonly string[]): Promise<void> => {
    if (!isLocked(client, ids)) return;
    await client.clock.sleep(GIVES_UP_AFTER_MS);
    throw new Fault('unavailable', 'the ledger is locked');
  };

  /** Locks the ledgers of a close between its two commands. */
  const lock = async (client: Process, ids: readonly string[]): Promise<void> => {
    await ask<void>(client, (_, answer, fail) => {
      if (isLocked(client, ids)) fail();
      else {
        for (const id of ids)
          locks.set(id, { holder: client, untilMs: world.now() + random.between(...LOCKED_MS) });
        answer();
      }
    });
  };

  const storeLedgers = async (client: Process, changes: readonly LedgerChange[]): Promise<boolean[]> => {
    const ids = changes.map(({ after }) => ledgerIdOf(after));
    const closing = changes.filter(({ before, after }) =>
      before?.grants.some(({ number }) => after.grants.every((grant) => grant.number !== number)),
    );
    if (!rules.noLockOutlivesItsHolder) {
      await waitForLocks(client, ids);
      if (closing.length > 0)
        await lock(
          client,
          closing.map(({ after }) => ledgerIdOf(after)),
        );
    }
    const answers = await writeAll(
      client,
      changes.map((change) => writes.storeLedger(change, rules)),
    );
    for (const id of ids) if (locks.get(id)?.holder === client) locks.delete(id);
    return answers;
  };

  const mongo: Mongo = {
    slow: false,
    losePrimary: () => {
      hasPrimary = false;
    },
    electPrimary: ({ deposed }) => {
      const former = current;
      // The new primary has the first few of the writes that a majority does not have.
      const kept = former.pending.slice(0, random.whole(0, former.pending.length));
      const behindBy = random.whole(0, former.earlier.length);
      const elected: Primary = {
        ...newPrimary(former.durable),
        latest: kept.at(-1)?.documents ?? former.durable,
        earlier: former.earlier,
        behind: behindBy === 0 ? former.durable : former.earlier.at(-behindBy),
        answersFromMs: world.now() + READS_BEHIND_MS * random.between(0.5, 1),
      };
      // Their clients no longer wait for an answer.
      elected.pending = kept.map(({ documents }) => ({ documents, replicated: () => {} }));
      current = elected;
      hasPrimary = true;
      world.note(
        () =>
          `another mongod is primary: it has ${kept.length} of ${former.pending.length} writes on the way, its reads are ${behindBy} writes behind`,
      );
      const last = elected.pending.at(-1);
      world.after(elected.answersFromMs - world.now(), () => {
        elected.behind = undefined;
        if (last) replicate(elected, last);
      });
      if (!deposed) return;
      const untilMs = world.now() + random.between(500, DEPOSED_ANSWERS_MS);
      for (const client of REPLICAS)
        if (random.chance(0.5)) deceived.set(client, { primary: former, untilMs });
    },
    durable: () => current.durable,
    connect: (client) => ({
      readLedgers: (ids) => read(client, (documents) => reads.ledgers(documents, ids)),
      readWithBreakdowns: (id) => read(client, (documents) => reads.withBreakdowns(documents, id)),
      storeLedgers: (changes) => storeLedgers(client, changes),
      replaceUse: async (changes) => {
        await waitForLocks(
          client,
          changes.map(({ ledger }) => ledgerIdOf(ledger)),
        );
        return writeAll(
          client,
          changes.map((change) => writes.replaceUse(change, rules)),
        );
      },
      raiseCells: async (grants) => {
        await writeAll(client, grants.map(writes.raiseCells));
      },
      dropCells: (grantIds) => {
        if (grantIds.length > 0) writeAll(client, [writes.dropCells(grantIds)]).catch(() => {});
      },
      mergeIntoDays: async (key, grants, mergedBelow) => {
        await writeAll(
          client,
          mergesOf(grants).map((merge) => writes.mergeIntoDay(key, merge, mergedBelow, rules)),
        );
      },
      readMonth: (accountId, month) => read(client, (documents) => reads.month(documents, accountId, month)),
      listOverdue: (nowMs, limit) => read(client, (documents) => reads.overdue(documents, nowMs, limit)),
      listOpen: (after, limit) => read(client, (documents) => reads.open(documents, after, limit)),
    }),
  };
  return mongo;
}

function newPrimary(documents: Documents): Primary {
  return {
    latest: documents,
    pending: [],
    durable: documents,
    earlier: [],
    behind: undefined,
    answersFromMs: 0,
  };
}

/** The accounts and months whose ledgers or breakdowns differ. */
function changedBetween(before: Documents, after: Documents): ChangedLedger[] {
  const ids = new Set<string>();
  for (const [id, ledger] of after.ledgers) if (before.ledgers.get(id) !== ledger) ids.add(id);
  for (const [id, day] of after.days) if (before.days.get(id) !== day) ids.add(day.ledgerId);
  return [...ids].flatMap((id) => parseGrantId(`${id}/1`)?.key ?? []);
}
