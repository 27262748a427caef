import { crc32 } from 'node:zlib';
import { IDENTIFIER_KINDS, kindOf } from '@brand-data/identifiers';
import { keyFromIndex } from './index-keys.ts';

/** The kinds of keys that look-ups read. Other keys link source records, or find suggestions. */
const LOOKED_UP: ReadonlySet<string> = new Set(IDENTIFIER_KINDS);

/**
 * Returns hashes of the keys that the index entries stand for, each once, without the strengths of matches. If a change of records
 * can change the answer to an identifier, then the hashes of the records and of the identifier have one in common, because an
 * answer depends only on the records that have one of the identifier's entries.
 *
 * Gateways compare hashes from all replicas and versions of catalog, so how they are made must never change.
 */
export function changeKeysOf(entries: Iterable<string>): number[] {
  const keys = new Set<number>();
  for (const entry of entries) if (LOOKED_UP.has(kindOf(entry))) keys.add(crc32(keyFromIndex(entry).key));
  return [...keys];
}
