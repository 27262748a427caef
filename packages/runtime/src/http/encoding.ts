import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

export type Encoding = 'identity' | 'gzip' | 'br';

/** If a caller accepts both equally, it gets the first. */
const COMPRESSED = ['br', 'gzip'] as const;

/** What Negotiator's types lack: the option `preferred`, and a result that is one of the available encodings. */
interface EncodingChoice {
  encoding(available: readonly Encoding[], options: { preferred: readonly string[] }): Encoding | undefined;
}

/** Returns the encoding that Accept-Encoding prefers (RFC 9110 12.5.3). Among equally preferred ones br comes before gzip. */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding {
  if (acceptEncoding === undefined) return 'identity';
  const choice = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }) as EncodingChoice;
  return choice.encoding(COMPRESSED, { preferred: COMPRESSED }) ?? 'identity';
}

/** Returns a tag for `etagOf` that the same bytes always have. */
export function tagOf(body: Buffer): string {
  return hash('sha256', body, 'base64url').slice(0, 27);
}

/** Returns a strong ETag, which differs between the encodings of one body (RFC 9110 8.8.3.3). */
export function etagOf(tag: string, encoding: Encoding): string {
  return encoding === 'identity' ? `"${tag}"` : `"${tag}-${encoding}"`;
}

/** Checks whether If-None-Match (RFC 9110 13.1.2) names the body, in any encoding. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const etags = [`"${tag}"`, `"${tag}-gzip"`, `"${tag}-br"`];
  return ifNoneMatch.split(',').some((entry) => {
    const given = entry.trim().replace(/^W\//, '');
    return given === '*' || etags.includes(given);
  });
}

/** Brotli's quality is 5: the highest, 11, takes twenty times as long for a tenth fewer bytes. */
const BROTLI = {
  [constants.BROTLI_PARAM_QUALITY]: 5,
  [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
};

export function compress(text: Buffer, encoding: Exclude<Encoding, 'identity'>): Promise<Buffer> {
  return encoding === 'gzip' ? promisify(gzip)(text) : promisify(brotliCompress)(text, { params: BROTLI });
}
