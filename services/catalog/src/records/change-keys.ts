import { crc32 } from 'node:zlib';
import { IDENTIFIER_KINDS, kindOf } from '@brand-data/identifiers';
import { keyFromIndex } from './index-keys.ts';

/** The kinds of keys that look-ups read. Other keys link source records, or find suggestions. */
const LOOKED_UP: ReadonlySet<string> = new Set(IDENTIFIER_KINDS);

/**
 * Returns hashes of the keys that the index entries stand for, each once. An identifier's answer is a function of the records
 * that have one of its entries. A change of records can therefore change the answer only if a changed record had or has one of
 * these entries. In that case the hashes of the record and of the identifier have one in common. The strengths of matches are
 * left out, which makes the hashes few.
 *
 * Gateways compare hashes from all replicas and versions of catalog, so how they are made must never change.
 */
export function changeKeysOf(entries: Iterable<string>): number[] {
  const keys = new Set<number>();
  for (const entry of entries) if (LOOKED_UP.has(kindOf(entry))) keys.add(crc32(keyFromIndex(entry).key));
  return [...keys];
}
