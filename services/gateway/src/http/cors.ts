import type { Content } from './answer.ts';

/** The methods of the routes. The gateway answers 405 to every other method. */
export const ALLOWED_METHODS = 'GET, HEAD, OPTIONS';

const EXPOSED_HEADERS = [
  'Brand-Match',
  'Cache-Control',
  'ETag',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Quota-Charged',
  'X-Request-Id',
].join(', ');

/** Returns the headers that every answer has. */
export function commonHeaders(requestId: string): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': EXPOSED_HEADERS,
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
  };
}

/** The answer to every OPTIONS request. Browsers cache the answer to a preflight for a day. */
export const preflight: Content = {
  status: 204,
  headers: {
    'Access-Control-Allow-Methods': ALLOWED_METHODS,
    'Access-Control-Allow-Headers': 'Accept, Accept-Encoding, If-None-Match',
    'Access-Control-Max-Age': '86400',
  },
};
