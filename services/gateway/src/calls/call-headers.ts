import { validateHeaderValue } from 'node:http';
import { boundsOfMonth, monthOf } from '@brand-data/contracts';
import { type Encoding, etagOf } from '@brand-data/runtime/http';
import type { SecondPolicy } from '../admission/limits/call-limits.ts';
import { cacheHeader, headText } from '../answers/answer.ts';
import type { FoundRecord } from '../records/catalog-answer.ts';

/** How long caches may keep a record. */
const RECORD_SECONDS = 3_600;
const ENCODINGS: readonly Encoding[] = ['identity', 'gzip', 'br'];

interface QuotaFigures {
  /** Whether the call is or may be billed. */
  charged: 0 | 1;
  remaining: number | undefined;
  /** undefined: neither the account nor the key has a rate, or the call was refused before its rate was looked at. */
  second: SecondPolicy | undefined;
  nowMs: number;
}

/**
 * Returns X-Quota-Charged, and RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers) with the policies "month" and
 * "second", as far as the gateway knows their figures.
 */
export function quotaHeaders(
  { limit }: { limit: number },
  { charged, remaining, second, nowMs }: QuotaFigures,
): Record<string, string> {
  let policies = '';
  let rests = '';
  if (remaining !== undefined) {
    const { lengthSeconds, leftSeconds } = monthAround(nowMs);
    policies = `"month";q=${limit};w=${lengthSeconds}`;
    rests = `"month";r=${Math.max(0, Math.min(limit, remaining))};t=${leftSeconds}`;
  }
  if (second) {
    const comma = policies && ', ';
    policies += `${comma}"second";q=${second.perSecond};w=1`;
    rests += `${comma}"second";r=${second.remaining};t=1`;
  }
  const headers = { 'X-Quota-Charged': String(charged) };
  return policies ? { ...headers, 'RateLimit-Policy': policies, RateLimit: rests } : headers;
}

/** Returns the length of the calendar month (UTC) around an instant, and the time left of it, in seconds. */
export function monthAround(nowMs: number): { lengthSeconds: number; leftSeconds: number } {
  const { startMs, endMs } = boundsOfMonth(monthOf(nowMs));
  return { lengthSeconds: (endMs - startMs) / 1000, leftSeconds: Math.ceil((endMs - nowMs) / 1000) };
}

interface HeadKind {
  status: number;
  encoding: Encoding;
  /** Whether the answer is for the caller's own cache alone. */
  isPrivate: boolean;
}

/** Returns the header lines of an answer of this kind, each ending with CRLF. Renders them once and keeps them with the record. */
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

/** Where the heads of images are among those of a record: after the ones of all encodings. */
const IMAGE_HEADS = ENCODINGS.length * 4;

/**
 * Returns the header lines, each ending with CRLF, of an answer that leads to an image. Keeps them with the record.
 *
 * @param record undefined: the image is a monogram of the identifier
 */
export function imageHead(record: FoundRecord | undefined, isPrivate: boolean): string {
  const kind = IMAGE_HEADS + Number(isPrivate);
  const kept = record?.heads[kind];
  if (kept !== undefined) return kept;
  const head = headText({
    'Cache-Control': cacheHeader(RECORD_SECONDS, isPrivate),
    ...(isPrivate && { Vary: 'Origin' }),
    'Brand-Match': record?.brandMatch ?? 'none',
    // A page that isolates itself (COEP) shows no other image.
    'Cross-Origin-Resource-Policy': 'cross-origin',
  });
  if (record) record.heads[kind] = head;
  return head;
}

/** Returns the URL of an image. Parameters that the caller named replace those of the record's URL. */
export function imageLocation(url: string, query: string): string {
  return query === '' ? url : `${url.replace(/\?.*/, '')}?${query}`;
}

function makeHead(
  { content, brandMatch, dataHeaders }: FoundRecord,
  { status, encoding, isPrivate }: HeadKind,
): string {
  const headers: Record<string, string> = {
    'Cache-Control': cacheHeader(RECORD_SECONDS, isPrivate),
    ETag: etagOf(content.tag, encoding),
    Vary: isPrivate ? 'Accept-Encoding, Origin' : 'Accept-Encoding',
    'Brand-Match': brandMatch,
    // On a 304 too: they may have changed although the body has not, and caches take them over.
    ...dataHeaders,
  };
  if (status !== 304) {
    headers['Content-Type'] = 'application/json; charset=utf-8';
    if (encoding !== 'identity') headers['Content-Encoding'] = encoding;
  }
  // `sendWhole` writes the head itself, so Node does not check the values.
  for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, value);
  return headText(headers);
}
