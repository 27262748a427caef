import {
  chooseEncoding,
  compress,
  type Encoding,
  etagOf,
  type HttpAnswer,
  matchesTag,
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
  // Scripts need it to know how long a cache had an answer already.
  'Age',
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

/** Returns the names and values of `headText`. */
export function headersIn(head: string): [name: string, value: string][] {
  return [...head.matchAll(/(.*?): (.*)\r\n/g)].map(([, name = '', value = '']) => [name, value]);
}

/** A body that callers get in the encoding that they accept. */
export interface Tagged {
  body: Buffer;
  /** The ETag without quotes and encoding. Every replica gives the same body the same tag. */
  readonly tag: string;
  /** Compressed bodies, or promises of them. Each is made when the first caller accepts it. */
  encoded: Partial<Record<Encoding, Buffer | Promise<Buffer>>>;
}

/** Returns the text as a body whose bytes no other Buffer uses: a small Buffer usually keeps a large shared piece alive. */
export function taggedBody(text: string): Tagged {
  const body = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  body.write(text);
  return { body, tag: tagOf(body), encoded: {} };
}

/** Returns the body's bytes in an encoding. Each encoding is compressed once. */
export function encodeBody(text: Tagged, encoding: Encoding): Promise<Buffer> | Buffer {
  if (encoding === 'identity') return text.body;
  text.encoded[encoding] ??= compressFirst(text, encoding);
  return text.encoded[encoding];
}

/** Which body the caller has, and which encodings it accepts: headers of its request. */
export interface HeldForm {
  ifNoneMatch: string | undefined;
  acceptEncoding: string | undefined;
}

/** Answers 200 with the body in an encoding that the caller accepts, or 304 if the caller has it. Content-Type is sent only with a body. */
export async function answerTagged(
  tagged: Tagged,
  { ifNoneMatch, acceptEncoding }: HeldForm,
  { type, headers, vary }: { type: string; headers: Readonly<Record<string, string>>; vary: string },
): Promise<Content> {
  const encoding = chooseEncoding(acceptEncoding);
  const own: Record<string, string> = { ...headers, ETag: etagOf(tagged.tag, encoding), Vary: vary };
  if (matchesTag(ifNoneMatch, tagged.tag)) return { status: 304, headers: own };
  own['Content-Type'] = type;
  if (encoding !== 'identity') own['Content-Encoding'] = encoding;
  return { status: 200, headers: own, body: await encodeBody(tagged, encoding) };
}

async function compressFirst(text: Tagged, encoding: Exclude<Encoding, 'identity'>): Promise<Buffer> {
  const compressed = await compress(text.body, encoding);
  text.encoded[encoding] = compressed;
  return compressed;
}
