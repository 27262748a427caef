import {
  compress,
  type Encoding,
  type HttpAnswer,
  type ProblemDetails,
  tagOf,
} from '@brand-data/runtime/http';
import type { ProblemCode } from './problem.ts';

export interface Content extends HttpAnswer {
  /** Further headers, as lines that end with CRLF (`headText`). */
  head?: string;
}

/** The answer to a call. */
export type CallAnswer = Content | ProblemDetails<ProblemCode>;

/**
 * Returns the value of Cache-Control, which lets browsers and shared caches keep an answer.
 *
 * @param isPrivate whether the key has a list of origins: pages of other origins must not get the answer from a cache
 */
export function cacheHeader(seconds: number, isPrivate: boolean): string {
  return `${isPrivate ? 'private' : 'public'}, max-age=${seconds}`;
}

const EXPOSED_HEADERS = [
  'Brand-Data',
  'Brand-Match',
  'Cache-Control',
  'ETag',
  'Last-Modified',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Quota-Charged',
  'X-Request-Id',
].join(', ');

/** The headers that every answer has beside its X-Request-Id. */
export const COMMON_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED_HEADERS,
  'X-Content-Type-Options': 'nosniff',
};

/** Returns each header as a line that ends with CRLF. */
export function headText(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

/** Returns the names and values in turn, as Node's `writeHead` takes them. */
export function namesAndValues(head: string): string[] {
  return head.split('\r\n').flatMap((line) => {
    const colon = line.indexOf(': ');
    return colon < 0 ? [] : [line.slice(0, colon), line.slice(colon + 2)];
  });
}

/** A body that callers get in the encoding that they accept. */
export interface Encodable {
  body: Buffer;
  /** Compressed bodies, or promises of them. Each is made when the first caller accepts it. */
  encoded: Partial<Record<Encoding, Buffer | Promise<Buffer>>>;
}

/** A body with its ETag, without quotes and encoding. Every replica gives the same body the same tag. */
export interface Tagged extends Encodable {
  readonly tag: string;
}

/** Returns the text as a body whose bytes no other Buffer uses: a small Buffer usually keeps a large shared piece alive. */
export function taggedBody(text: string): Tagged {
  const body = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  body.write(text);
  return { body, tag: tagOf(body), encoded: {} };
}

/** Returns the body's bytes in an encoding. Each encoding is compressed once. */
export function encodeBody(text: Encodable, encoding: Encoding): Promise<Buffer> | Buffer {
  if (encoding === 'identity') return text.body;
  text.encoded[encoding] ??= compressFirst(text, encoding);
  return text.encoded[encoding];
}

async function compressFirst(text: Encodable, encoding: Exclude<Encoding, 'identity'>): Promise<Buffer> {
  const compressed = await compress(text.body, encoding);
  text.encoded[encoding] = compressed;
  return compressed;
}
