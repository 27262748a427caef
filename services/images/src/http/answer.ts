import type { IncomingHttpHeaders } from 'node:http';
import { etagOf, type HttpAnswer, matchesTag } from '@brand-data/runtime/http';
import { BASE, type Format, QUERY_HELP, readImageUrl, type Wanted } from '../image/image.ts';
import { MEDIA_TYPES } from '../pictures/negotiate.ts';
import type { MadePicture, ServedPicture } from '../pictures/picture-maker.ts';
import type { Pictures } from '../pictures/pictures.ts';
import { ImageProblem } from './problem.ts';

/** What a request asks for, as metrics count it. */
export interface ImageLabels {
  kind: Wanted['source']['kind'] | 'none';
  format: Format | 'none';
}

/** The headers of every answer: any page may show every image, and read every error. */
export const IMAGE_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Retry-After, X-Request-Id',
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
};
const NO_IMAGE = 'No image has this path.';
const NO_MONOGRAM =
  'No record names this monogram, or its path was made with a key that is no longer in use. Ask for the record again: it has the path of today.';
const NO_SVG =
  'This image is stored as a raster, so it cannot be had as SVG. Its formats are png, webp and avif.';
const FOR_EVER = 'public, max-age=31536000, immutable';
const FOR_A_MINUTE = 'public, max-age=60';
/** For an SVG that is opened as a page. It has no scripts, and these would not run. */
const SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/**
 * Answers a request for an image: at once if the picture is in the cache. Throws or rejects with HttpProblem or Fault.
 *
 * @param caller.client the network of the caller's address
 * @param asked gets what the request asks for, as soon as it is known
 */
export function answerImage(
  pictures: Pick<Pictures, 'find'>,
  url: string,
  { headers: given, client }: { headers: IncomingHttpHeaders; client: string },
  asked: ImageLabels,
): HttpAnswer | Promise<HttpAnswer> {
  const wanted = readImageUrl(url);
  if (wanted === 'no_route') throw new ImageProblem('route_not_found', `Images are below ${BASE}.`);
  if (wanted === 'no_image') throw noImage();
  if (wanted === 'bad_query') throw new ImageProblem('parameters_invalid', QUERY_HELP);
  asked.kind = wanted.source.kind;
  const answer = (found: MadePicture): HttpAnswer => {
    if (found === 'no_image') throw noImage(wanted.source.kind === 'monogram' ? NO_MONOGRAM : NO_IMAGE);
    if (found === 'no_svg') throw new ImageProblem('parameters_invalid', NO_SVG);
    asked.format = found.format;
    const headers = headersOf(found, wanted.format === undefined);
    if (matchesTag(given['if-none-match'], found.tag)) return { status: 304, headers };
    if (found.encoding !== 'identity') headers['content-encoding'] = found.encoding;
    return { status: 200, headers, body: found.body };
  };
  const acceptEncoding = given['accept-encoding']?.toString();
  const found = pictures.find(wanted, { accept: given.accept, acceptEncoding, client });
  return found instanceof Promise ? found.then(answer) : answer(found);
}

function noImage(detail = NO_IMAGE): ImageProblem {
  return new ImageProblem('image_not_found', detail, { 'Cache-Control': FOR_A_MINUTE });
}

function headersOf({ format, tag, encoding }: ServedPicture, isNegotiated: boolean): Record<string, string> {
  const isSvg = format === 'svg';
  const vary = [isNegotiated && 'Accept', isSvg && 'Accept-Encoding'].filter(Boolean).join(', ');
  return {
    'cache-control': FOR_EVER,
    'content-type': MEDIA_TYPES[format],
    etag: etagOf(tag, encoding),
    ...(isSvg && { 'content-security-policy': SVG_POLICY }),
    ...(vary && { vary }),
  };
}
