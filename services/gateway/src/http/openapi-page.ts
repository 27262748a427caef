import { hash } from 'node:crypto';
import { chooseEncoding, etagOf, matchesTag } from '@brand-data/runtime';
import { type Encodable, encodeBody } from '../records/records.ts';
import type { Content } from './answer.ts';

/** Returns the function that answers /openapi.json. Every replica of one version and configuration gives the same ETag. */
export function createOpenApiPage(
  document: string,
): (headers: Readonly<Record<string, string | string[] | undefined>>) => Promise<Content> {
  const body = Buffer.from(document);
  const page: Encodable = { body, encoded: {} };
  const tag = hash('sha256', body, 'base64url').slice(0, 27);

  return async (request) => {
    const encoding = chooseEncoding(request['accept-encoding']?.toString());
    const headers: Record<string, string> = {
      'Cache-Control': 'public, max-age=3600',
      ETag: etagOf(tag, encoding),
      Vary: 'Accept-Encoding',
    };
    if (matchesTag(request['if-none-match']?.toString(), tag)) return { status: 304, headers };
    headers['Content-Type'] = 'application/json; charset=utf-8';
    if (encoding !== 'identity') headers['Content-Encoding'] = encoding;
    return { status: 200, headers, body: await encodeBody(page, encoding) };
  };
}
