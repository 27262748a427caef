import { tagOf } from '@brand-data/runtime/http';
import { answerTagged, type Content } from '../answers/answer.ts';
import type { Headers } from '../auth/caller.ts';

/** Answers a GET or HEAD request with these headers. */
export type FileAnswer = (headers: Headers) => Promise<Content>;

/** Returns the function that answers with a body that stays the same while the process runs. Each encoding is compressed once. */
export function createStaticFile(
  body: Buffer,
  { type, headers }: { type: string; headers: Readonly<Record<string, string>> },
): FileAnswer {
  const file = { body, tag: tagOf(body), encoded: {} };
  // Some programs keep an archive with a Content-Encoding as it was sent: compressed twice.
  const isArchive = type === 'application/gzip';
  return (request) => {
    const acceptEncoding = isArchive ? undefined : request['accept-encoding']?.toString();
    const held = { ifNoneMatch: request['if-none-match']?.toString(), acceptEncoding };
    return answerTagged(file, held, { type, headers, vary: 'Accept-Encoding' });
  };
}
