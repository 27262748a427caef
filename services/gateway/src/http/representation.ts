import { namesEtag } from '@brand-data/runtime';
import Negotiator from 'negotiator';
import type { Encoding } from '../records/records.ts';

/** Returns a strong ETag, which differs between the encodings of a record (RFC 9110 8.8.3.3). */
export function etagOf(tag: string, encoding: Encoding): string {
  return encoding === 'identity' ? `"${tag}"` : `"${tag}-${encoding}"`;
}

/** Whether If-None-Match names the record, in any encoding. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  return namesEtag(ifNoneMatch, [`"${tag}"`, `"${tag}-gzip"`, `"${tag}-br"`]);
}

/** If a caller accepts both equally, the gateway uses the first. */
const ENCODINGS = ['br', 'gzip'] as const;

interface EncodingChoice {
  encoding(
    available: readonly string[],
    options: { preferred: readonly string[] },
  ): (typeof ENCODINGS)[number] | undefined;
}

/** Returns the encoding that Accept-Encoding prefers (RFC 9110 12.5.3). Among equally preferred ones br comes before gzip. */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding {
  // Negotiator's types lack the option `preferred`, and do not narrow the result to the available encodings.
  const choice = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }) as EncodingChoice;
  return choice.encoding(ENCODINGS, { preferred: ENCODINGS }) ?? 'identity';
}
