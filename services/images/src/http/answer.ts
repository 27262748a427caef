import type { Format } from '../image.ts';
import { QUERY_HELP, readImageUrl, type Wanted } from '../image-path.ts';
import { MEDIA_TYPES } from '../negotiate.ts';
import type { Picture, Pictures } from '../pictures.ts';
import { ProblemError } from './problem.ts';

/** An answer's status, body, and headers in addition to those that every answer has. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body?: Buffer;
}

/** What a request asks for, as metrics count it. */
export interface Asked {
  kind: Wanted['source']['kind'] | 'none';
  format: Format | 'none';
}

export interface ImageRequest {
  url: string;
  accept: string | undefined;
  ifNoneMatch: string | undefined;
}

/** Any page may show every image, and what a URL leads to never changes. */
export const COMMON_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Retry-After, X-Request-Id',
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
};
const FOR_EVER = 'public, max-age=31536000, immutable';
const FOR_A_MINUTE = 'public, max-age=60';
/** For an SVG that is opened as a page. It has no scripts, and these would not run. */
const SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/**
 * Answers a request for an image. Throws ProblemError or Fault.
 *
 * @param asked gets what the request asks for, as soon as it is known
 */
export async function answerImage(
  pictures: Pictures,
  { url, accept, ifNoneMatch }: ImageRequest,
  asked: Asked,
): Promise<Answer> {
  const wanted = readImageUrl(url);
  if (wanted === 'no_route') throw new ProblemError('route_not_found', 'Images are below /images/.');
  if (wanted === 'no_image') throw noImage();
  if (wanted === 'bad_query') throw new ProblemError('parameters_invalid', QUERY_HELP);
  asked.kind = wanted.source.kind;
  const found = pictures.find(wanted, accept);
  const picture = found instanceof Promise ? await found : found;
  if (picture === 'no_image') throw noImage();
  if (picture === 'no_svg')
    throw new ProblemError(
      'parameters_invalid',
      'This image is stored as a raster, so it cannot be had as SVG. Its formats are png, webp and avif.',
    );
  asked.format = picture.format;
  const headers = headersOf(picture, wanted.format === undefined);
  if (matches(ifNoneMatch, picture.etag)) return { status: 304, headers };
  return { status: 200, headers, body: picture.body };
}

function noImage(): ProblemError {
  return new ProblemError('image_not_found', 'No image has this path.', { 'Cache-Control': FOR_A_MINUTE });
}

function headersOf({ format, etag }: Picture, isNegotiated: boolean): Record<string, string> {
  const headers: Record<string, string> = {
    'cache-control': FOR_EVER,
    'content-type': MEDIA_TYPES[format],
    etag,
  };
  if (format === 'svg') headers['content-security-policy'] = SVG_POLICY;
  if (isNegotiated) headers.vary = 'Accept';
  return headers;
}

/** Whether If-None-Match names the picture. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((entry) => {
    const given = entry.trim().replace(/^W\//, '');
    return given === '*' || given === etag;
  });
}
