import { type LedgerKey, ledgerIdOf, parseLedgerId } from '@brand-data/metering/src/ledger/ledger.ts';
import type { LedgerDatabase } from '@brand-data/metering/src/ledger/ledger-database.ts';
import { Fault } from '@brand-data/runtime';
import {
  type DatabaseRules,
  type Documents,
  documentDatabase,
  NO_DOCUMENTS,
  type Write,
} from './ledger-documents.ts';
import { REPLICAS } from './plan.ts';
import type { Process, World } from './world.ts';

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

/**
 * The replica set that all metering replicas share, as its clients see it: a sequence of states, one after each write. Once a
 * majority of the members has a state, it is never taken back, and the primary answers the write that led to it. When the primary
 * is lost, states that no majority has may be taken back, and for some time reads show an old durable state.
 */
export class ReplicaSet {
  slow = false;
  readonly #world: World;
  readonly #rules: MongoRules;
  readonly #changed: (ledgers: readonly ChangedLedger[]) => void;
  #current = newPrimary(NO_DOCUMENTS);
  #hasPrimary = true;
  /** The clients for which a deposed primary is still the primary. */
  readonly #deceived = new Map<string, { primary: Primary; untilMs: number }>();
  readonly #locks = new Map<string, { holder: Process; untilMs: number }>();

  /** @param changed called as soon as the durable state changes */
  constructor(world: World, rules: MongoRules, changed: (ledgers: readonly ChangedLedger[]) => void) {
    this.#world = world;
    this.#rules = rules;
    this.#changed = changed;
  }

  /** Returns the state that a majority has. */
  durable(): Documents {
    return this.#current.durable;
  }

  /** From now on there is no primary. */
  losePrimary(): void {
    this.#hasPrimary = false;
  }

  /** Elects another primary. `deposed`: the former one keeps running, and some clients still use it. */
  electPrimary({ deposed }: { deposed: boolean }): void {
    const former = this.#current;
    // The new primary has the first few of the writes that a majority does not have.
    const kept = former.pending.slice(0, this.#world.random.whole(0, former.pending.length));
    const behindBy = this.#world.random.whole(0, former.earlier.length);
    const elected: Primary = {
      ...newPrimary(former.durable),
      // Their clients no longer wait for an answer.
      pending: kept.map(({ documents }) => ({ documents, replicated: () => {} })),
      latest: kept.at(-1)?.documents ?? former.durable,
      earlier: former.earlier,
      behind: behindBy === 0 ? former.durable : former.earlier.at(-behindBy),
      answersFromMs: this.#world.now() + READS_BEHIND_MS * this.#world.random.between(0.5, 1),
    };
    this.#current = elected;
    this.#hasPrimary = true;
    this.#world.note(
      () =>
        `another mongod is primary: it has ${kept.length} of ${former.pending.length} writes on the way, its reads are ${behindBy} writes behind`,
    );
    const last = elected.pending.at(-1);
    this.#world.after(elected.answersFromMs - this.#world.now(), () => {
      elected.behind = undefined;
      if (last) this.#replicate(elected, last);
    });
    if (!deposed) return;
    const untilMs = this.#world.now() + this.#world.random.between(500, DEPOSED_ANSWERS_MS);
    for (const client of REPLICAS)
      if (this.#world.random.chance(0.5)) this.#deceived.set(client, { primary: former, untilMs });
  }

  connect(client: Process): LedgerDatabase {
    const database = documentDatabase({
      rules: this.#rules,
      read: (of) =>
        this.#ask(client, ({ behind, durable }, reply) => {
          void Promise.resolve(of(behind ?? durable)).then(reply);
        }),
      writeAll: (changes) => this.#writeAll(client, changes),
      nowMs: () => this.#world.trueWallMs(),
    });
    return this.#rules.noLockOutlivesItsHolder ? database : this.#withLocks(client, database);
  }

  /** One command of a client: it is sent, performed and answered, and has a deadline. */
  #ask<Answer>(
    client: Process,
    perform: (primary: Primary, reply: (answer: Answer | Error) => void) => void,
  ): Promise<Answer> {
    const { random } = this.#world;
    const late = () => new Fault('unavailable', 'the database did not answer in time');
    return this.#world.ask<Answer>(client, MONGO, GIVES_UP_AFTER_MS, late, (reply) => {
      const workMs = this.slow ? random.between(50, 1_500) : random.between(0.3, 3);
      this.#world.after(workMs, () => {
        const primary = this.#primaryFor(client.machine.name);
        if (primary) perform(primary, reply);
        // Some clients get the answer that there is no primary. The other clients wait until their deadline.
        else if (random.chance(0.5)) reply(late());
      });
    });
  }

  #primaryFor(client: string): Primary | undefined {
    const former = this.#deceived.get(client);
    if (former && this.#world.now() < former.untilMs) return former.primary;
    return this.#hasPrimary ? this.#current : undefined;
  }

  /** The single writes of one command, answered once all are durable. If the command fails, some of them may be durable. */
  #writeAll<Answer>(client: Process, changes: readonly Write<Answer>[]): Promise<Answer[]> {
    return this.#ask<Answer[]>(client, (primary, reply) => {
      let left = changes.length;
      const answers: Answer[] = [];
      const replicated = () => {
        left -= 1;
        if (left === 0) reply(answers);
      };
      if (left === 0) reply([]);
      for (const change of changes) answers.push(this.#write(primary, change, replicated));
    });
  }

  #write<Answer>(primary: Primary, change: Write<Answer>, replicated: () => void): Answer {
    const { after, answer } = change(primary.latest);
    primary.latest = after;
    const pending = { documents: after, replicated };
    primary.pending.push(pending);
    const waitMs = Math.max(0, primary.answersFromMs - this.#world.now());
    this.#world.after(waitMs + this.#world.random.between(...REPLICATED_MS), () =>
      this.#replicate(primary, pending),
    );
    return answer;
  }

  /** A majority now has all of the primary's writes up to this one. */
  #replicate(primary: Primary, write: Primary['pending'][number]): void {
    if (primary !== this.#current || !this.#hasPrimary || !primary.pending.includes(write)) return;
    for (let next = primary.pending.shift(); next; next = primary.pending.shift()) {
      const before = primary.durable;
      primary.earlier = [...primary.earlier.slice(1 - STATES_BEHIND), before];
      primary.durable = next.documents;
      this.#changed(changedBetween(before, next.documents));
      next.replicated();
      if (next === write) return;
    }
  }

  /** Returns a database that locks the ledgers of a close between two commands. */
  #withLocks(client: Process, database: LedgerDatabase): LedgerDatabase {
    const isLocked = (id: string) => {
      const { holder, untilMs } = this.#locks.get(id) ?? { holder: client, untilMs: 0 };
      return holder !== client && this.#world.now() < untilMs;
    };
    const unlocked = async (ids: readonly string[]) => {
      if (!ids.some(isLocked)) return;
      await client.clock.sleep(GIVES_UP_AFTER_MS);
      throw locked();
    };
    const lock = (ids: readonly string[]) =>
      this.#ask<void>(client, (_, reply) => {
        const isFree = !ids.some(isLocked);
        for (const id of isFree ? ids : []) {
          const untilMs = this.#world.now() + this.#world.random.between(...LOCKED_MS);
          this.#locks.set(id, { holder: client, untilMs });
        }
        reply(isFree ? undefined : locked());
      });
    return {
      ...database,
      storeLedgers: async (changes) => {
        const closing = changes.filter(({ before, after }) =>
          before?.grants.some(({ number }) => after.grants.every((grant) => grant.number !== number)),
        );
        const ids = changes.map(({ after }) => ledgerIdOf(after));
        await unlocked(ids);
        if (closing.length > 0) await lock(closing.map(({ after }) => ledgerIdOf(after)));
        const answers = await database.storeLedgers(changes);
        for (const id of ids) if (this.#locks.get(id)?.holder === client) this.#locks.delete(id);
        return answers;
      },
      replaceUse: async (changes) => {
        await unlocked(changes.map(({ ledger }) => ledgerIdOf(ledger)));
        return database.replaceUse(changes);
      },
    };
  }
}

const locked = () => new Fault('unavailable', 'the ledger is locked');

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

/** Returns the accounts and months whose ledgers or breakdowns differ. */
function changedBetween(before: Documents, after: Documents): ChangedLedger[] {
  const ids = new Set<string>();
  for (const [id, ledger] of after.ledgers) if (before.ledgers.get(id) !== ledger) ids.add(id);
  for (const [id, day] of after.days) if (before.days.get(id) !== day) ids.add(day.ledgerId);
  return [...ids].flatMap((id) => parseLedgerId(id) ?? []);
}
