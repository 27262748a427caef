import { type Encoding, etagOf } from '@brand-data/runtime';
import type { FoundRecord } from '../records/records.ts';
import { cacheHeader } from './answer.ts';

/** How long caches may keep a record. */
const RECORD_SECONDS = 3_600;
const ENCODINGS: readonly Encoding[] = ['identity', 'gzip', 'br'];

export interface RecordAnswer {
  status: number;
  encoding: Encoding;
  /** Whether the answer is for the caller's own cache alone (`cacheHeader`). */
  isPrivate: boolean;
}

/**
 * Returns the headers that all such answers with a record have, as names and values in turn. They are made for the first such answer
 * and kept with the record.
 */
export function recordLines(record: FoundRecord, answer: RecordAnswer): readonly string[] {
  const kind =
    ENCODINGS.indexOf(answer.encoding) * 4 + (answer.isPrivate ? 2 : 0) + (answer.status === 304 ? 1 : 0);
  let lines = record.lines[kind];
  if (!lines) {
    lines = makeLines(record, answer);
    record.lines[kind] = lines;
  }
  return lines;
}

function makeLines(
  { content, brandMatch }: FoundRecord,
  { status, encoding, isPrivate }: RecordAnswer,
): readonly string[] {
  const lines = [
    ...['Cache-Control', cacheHeader(RECORD_SECONDS, isPrivate)],
    ...['ETag', etagOf(content.tag, encoding)],
    ...['Vary', isPrivate ? 'Accept-Encoding, Origin' : 'Accept-Encoding'],
    ...['Brand-Match', brandMatch],
  ];
  if (status === 304) return lines;
  lines.push('Content-Type', 'application/json; charset=utf-8');
  if (encoding !== 'identity') lines.push('Content-Encoding', encoding);
  return lines;
}
