import { factsBeside } from '@brand-data/identifiers';
import type { Contribution } from '../records/source-record.ts';

/** So few who share a key are compared at once; more are first told apart by the facts beside it. */
const FEW = 8;
const NONE: ReadonlySet<string> = new Set();

/** Who may be linked with a contribution, of those that have been added. */
export interface Meetings<T> {
  add(contribution: Contribution, item: T): void;
  /** The items of all contributions that may be linked with this one, and of few others; some more than once. */
  of(contribution: Contribution): Iterable<T>;
}

/**
 * Brings contributions together by the keys of their identities; and where many share a key that links nothing alone
 * (a web host, a name), by the facts beside it too. So no one compares all that share one with one another. Keys of
 * crowds bring nobody together.
 */
export function meetings<T>(crowds: ReadonlySet<string> = NONE): Meetings<T> {
  const byKey = new Map<string, Meeting<T>>();
  return {
    add(contribution, item) {
      for (const key of contribution.identity.keys) {
        const meeting = byKey.get(key);
        if (meeting === undefined) byKey.set(key, { present: [{ contribution, item }], byFact: undefined });
        else {
          meeting.present.push({ contribution, item });
          meeting.byFact = undefined;
        }
      }
    },

    *of(contribution) {
      for (const key of contribution.identity.keys) {
        const meeting = byKey.get(key);
        if (meeting === undefined || crowds.has(key)) continue;
        const facts =
          meeting.present.length <= FEW || contribution.isQuote
            ? undefined
            : factsBeside(contribution.identity, key);
        if (facts === undefined) for (const { item } of meeting.present) yield item;
        else {
          meeting.byFact ??= factsOf(key, meeting.present);
          for (const fact of [...facts, QUOTE]) if (!crowds.has(fact)) yield* meeting.byFact.get(fact) ?? [];
        }
      }
    },
  };
}

interface Meeting<T> {
  readonly present: { readonly contribution: Contribution; readonly item: T }[];
  /** Made when it is asked for. */
  byFact: ReadonlyMap<string, readonly T[]> | undefined;
}

/** No fact: of quotes, which are linked with every company that has their listing. */
const QUOTE = ' quote';

function factsOf<T>(key: string, present: Meeting<T>['present']): ReadonlyMap<string, readonly T[]> {
  const byFact = new Map<string, T[]>();
  for (const { contribution, item } of present) {
    const facts = contribution.isQuote ? [QUOTE] : (factsBeside(contribution.identity, key) ?? []);
    for (const fact of facts) {
      const sharing = byFact.get(fact);
      if (sharing === undefined) byFact.set(fact, [item]);
      else sharing.push(item);
    }
  }
  return byFact;
}
