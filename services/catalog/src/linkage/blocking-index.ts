import { kindOf, secondaryKeys } from '@brand-data/identifiers';
import { append } from '../records/append.ts';
import type { SourceRecord } from '../records/source-record.ts';
import { MOST_LISTINGS_OF_ONE_NAME, MOST_OF_ONE_NAME } from './shared-names.ts';

/** In a block of up to this many members, all members are candidates. A larger block is divided by secondary keys. */
const SMALL_BLOCK = 8;
const NO_KEYS: ReadonlySet<string> = new Set();

/**
 * Finds the records with which a record must be compared, so that it is not compared with every other record. A block
 * is the set of records that share a key.
 */
export interface BlockingIndex<T> {
  add(record: SourceRecord, item: T): void;
  /**
   * Returns the items of all records that may be linked with `record`, and of a few further records. An item may come more than
   * once.
   */
  candidates(record: SourceRecord): Iterable<T>;
}

/**
 * Groups source records into blocks by the keys of their identities. Some keys, such as a domain or a name, link nothing alone.
 * If many records share one of these keys, candidates must also share a secondary key. Hot keys form no blocks.
 */
export function blockingIndex<T>(hotKeys: ReadonlySet<string> = NO_KEYS): BlockingIndex<T> {
  const blocks = new Map<string, Block<T>>();
  return {
    add(record, item) {
      for (const key of record.identity.keys) {
        const block = blocks.get(key);
        if (block === undefined) blocks.set(key, { members: [{ record, item }], bySecondaryKey: undefined });
        else {
          block.members.push({ record, item });
          block.bySecondaryKey = undefined;
        }
      }
    },

    *candidates(record) {
      for (const key of record.identity.keys) {
        const block = blocks.get(key);
        if (block === undefined || hotKeys.has(key)) continue;
        const ofName = record.identity.isListing ? MOST_LISTINGS_OF_ONE_NAME : MOST_OF_ONE_NAME;
        const small = kindOf(key) === 'named' ? ofName : SMALL_BLOCK;
        const secondary =
          block.members.length <= small || record.isQuote ? undefined : secondaryKeys(record.identity, key);
        if (secondary === undefined) for (const { item } of block.members) yield item;
        else {
          block.bySecondaryKey ??= groupBySecondaryKey(key, block.members);
          for (const other of [...secondary, QUOTES])
            if (!hotKeys.has(other)) yield* block.bySecondaryKey.get(other) ?? [];
        }
      }
    },
  };
}

interface Block<T> {
  readonly members: { readonly record: SourceRecord; readonly item: T }[];
  /** Computed at its first use. */
  bySecondaryKey: ReadonlyMap<string, readonly T[]> | undefined;
}

/** The secondary key of all quotes, because a quote is linked with every company that has its listing. */
const QUOTES = ' quote';

function groupBySecondaryKey<T>(
  key: string,
  members: Block<T>['members'],
): ReadonlyMap<string, readonly T[]> {
  const items = new Map<string, T[]>();
  for (const { record, item } of members) {
    const secondary = record.isQuote ? [QUOTES] : (secondaryKeys(record.identity, key) ?? []);
    for (const other of secondary) append(items, other, item);
  }
  return items;
}
