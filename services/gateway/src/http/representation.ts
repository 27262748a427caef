import Negotiator from 'negotiator';
import type { Encoding } from '../records/records.ts';

/** A strong ETag: each encoding of a record has its own (RFC 9110 8.8.3.3). */
export function etagOf(tag: string, encoding: Encoding): string {
  return encoding === 'identity' ? `"${tag}"` : `"${tag}-${encoding}"`;
}

/** Whether If-None-Match names the record, in any encoding. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((entry) => {
    const given = entry.trim().replace(/^W\//, '');
    return given === '*' || given === `"${tag}"` || given === `"${tag}-gzip"` || given === `"${tag}-br"`;
  });
}

/** Of two that a caller likes equally, the first. */
const ENCODINGS = ['br', 'gzip'] as const;

interface EncodingChoice {
  encoding(
    available: readonly string[],
    options: { preferred: readonly string[] },
  ): (typeof ENCODINGS)[number] | undefined;
}

/** The best encoding that Accept-Encoding allows (RFC 9110 12.5.3): br, then gzip, unless it prefers otherwise. */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding {
  // Its types know neither the option nor that the answer is one of these.
  const choice = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }) as EncodingChoice;
  return choice.encoding(ENCODINGS, { preferred: ENCODINGS }) ?? 'identity';
}
