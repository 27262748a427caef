import { validateHeaderValue } from 'node:http';
import { type Encoding, etagOf } from '@brand-data/runtime/http';
import { cacheHeader } from '../answers/answer.ts';
import { headText } from '../answers/head.ts';
import type { FoundRecord } from '../records/catalog-answer.ts';

/** How long caches may keep a record. */
const RECORD_SECONDS = 3_600;
const ENCODINGS: readonly Encoding[] = ['identity', 'gzip', 'br'];

export interface HeadKind {
  status: number;
  encoding: Encoding;
  /** Whether the answer is for the caller's own cache alone. */
  isPrivate: boolean;
}

/**
 * Returns the header lines for this status, encoding and privacy, each ending with CRLF. They are rendered once and cached on the
 * record.
 */
export function recordHead(record: FoundRecord, answer: HeadKind): string {
  const kind =
    ENCODINGS.indexOf(answer.encoding) * 4 + (answer.isPrivate ? 2 : 0) + (answer.status === 304 ? 1 : 0);
  let head = record.heads[kind];
  if (head === undefined) {
    head = makeHead(record, answer);
    record.heads[kind] = head;
  }
  return head;
}

function makeHead({ content, brandMatch }: FoundRecord, { status, encoding, isPrivate }: HeadKind): string {
  const headers: Record<string, string> = {
    'Cache-Control': cacheHeader(RECORD_SECONDS, isPrivate),
    ETag: etagOf(content.tag, encoding),
    Vary: isPrivate ? 'Accept-Encoding, Origin' : 'Accept-Encoding',
    'Brand-Match': brandMatch,
  };
  if (status !== 304) {
    headers['Content-Type'] = 'application/json; charset=utf-8';
    if (encoding !== 'identity') headers['Content-Encoding'] = encoding;
  }
  // `sendWhole` writes the head itself, so Node does not check the values.
  for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, value);
  return headText(headers);
}
