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
