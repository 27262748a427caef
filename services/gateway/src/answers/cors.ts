import { allowedHeaders } from '@brand-data/runtime';
import type { Content } from './answer.ts';

/** The methods of the routes. The gateway answers 405 to every other method. */
export const ALLOWED_METHODS = 'GET, HEAD, OPTIONS';

export const EXPOSED_HEADERS = [
  'Brand-Match',
  'Cache-Control',
  'ETag',
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

/**
 * The answer to an OPTIONS request. It allows every header that the browser asks for: a page that sends its token in a header
 * gets a 401 that says where the token belongs, and could not read it if the preflight were refused. Browsers cache the answer for
 * a day.
 *
 * @param requested the request's Access-Control-Request-Headers
 */
export function preflight(requested: string | undefined): Content {
  return {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': ALLOWED_METHODS,
      'Access-Control-Allow-Headers': allowedHeaders(requested),
      'Access-Control-Max-Age': '86400',
      Vary: 'Access-Control-Request-Headers',
    },
  };
}
