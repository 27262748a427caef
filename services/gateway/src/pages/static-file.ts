import { chooseEncoding, etagOf, matchesTag, tagOf } from '@brand-data/runtime/http';
import { type Content, type Encodable, encodeBody } from '../answers/answer.ts';

/** Answers a GET or HEAD request with these headers. */
export type FileAnswer = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
) => Promise<Content>;

/**
 * Returns the function that answers with a body that stays the same while the process runs. Each encoding is compressed once. Every
 * replica with the same body gives the same ETag.
 *
 * @param headers the headers of answers 200 and 304; Content-Type is sent only with a body
 */
export function createStaticFile(
  body: Buffer,
  { type, headers }: { type: string; headers: Readonly<Record<string, string>> },
): FileAnswer {
  const file: Encodable = { body, encoded: {} };
  const tag = tagOf(body);
  // Some programs keep an archive with a Content-Encoding as it was sent: compressed twice.
  const isArchive = type === 'application/gzip';

  return async (request) => {
    const encoding = isArchive ? 'identity' : chooseEncoding(request['accept-encoding']?.toString());
    const own: Record<string, string> = { ...headers, ETag: etagOf(tag, encoding), Vary: 'Accept-Encoding' };
    if (matchesTag(request['if-none-match']?.toString(), tag)) return { status: 304, headers: own };
    own['Content-Type'] = type;
    if (encoding !== 'identity') own['Content-Encoding'] = encoding;
    return { status: 200, headers: own, body: await encodeBody(file, encoding) };
  };
}
