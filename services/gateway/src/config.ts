import { MOST_USAGE_STREAMS } from '@brand-data/contracts';
import { configSpec, MONOGRAM_KEYS, NATS_CA, TRUSTED_PROXIES, transportSpec } from '@brand-data/runtime';

export const serviceSpec = {
  ...transportSpec,
  PORT: configSpec.port({ desc: 'Port of the public API' }),
  ACCOUNTS_TARGET: configSpec.str({ desc: 'Address of accounts for gateways, host:port' }),
  CATALOG_TARGET: configSpec.str({ desc: 'Address of catalog for gateways, host:port' }),
  METERING_TARGET: configSpec.str({ desc: 'Address of metering for gateways, host:port' }),
  NATS_URL: configSpec.natsUrl({ desc: 'NATS servers, comma-separated, nats://…' }),
  NATS_CA,
  USAGE_STREAMS: configSpec.num({
    default: 1,
    choices: Array.from({ length: MOST_USAGE_STREAMS }, (_, index) => index + 1),
    desc: 'Number of usage streams to which gateways publish; to raise it, change metering first',
  }),
  LOGO_HOST: configSpec.baseUrl({
    desc: 'Public base URL of the images service, which ends in /images, for example https://api.example.com/images',
  }),
  MONOGRAM_KEYS,
  TRUSTED_PROXIES,
  PUBLIC_URL: configSpec.baseUrl({
    default: '',
    desc: 'Public base URL of this API, with the path prefix if a proxy serves it under one, for example https://example.com/brands; by default unknown',
  }),
  DOCS_URL: configSpec.str({
    default: '',
    desc: "URL of the page of error codes; a problem's `type` begins with this URL; by default /docs/errors below PUBLIC_URL, which the gateway serves",
  }),
  CONTACT: configSpec.emailOrUrl({
    default: '',
    desc: 'Where callers reach you, an e-mail address or a URL, for the OpenAPI document; by default unknown',
  }),
  TERMS_URL: configSpec.httpUrl({
    default: '',
    desc: 'URL of the terms of use, for the OpenAPI document; by default none',
  }),
  STATUS_URL: configSpec.httpUrl({
    default: '',
    desc: 'URL of a page that says whether the service works, for the page of contact; by default none',
  }),
  DEMO_TOKEN: configSpec.publishableToken({
    default: '',
    desc: 'Token that the playground offers to its visitors, whose calls are counted against its account; by default none',
  }),
  ACCESS_LOG: configSpec.str({
    choices: ['off', 'on', 'hash', 'address'],
    default: 'off',
    desc: "Whether to log a line for each answer: method, route, status, time, request id, and key id, without token, query or identifier; with `address` also the client's address, with `hash` a hash of it that is the same until the gateway stops",
  }),
  MCP: configSpec.str({
    choices: ['off', 'on'],
    default: 'off',
    desc: 'Whether to serve /mcp, so that assistants can look records up with the Model Context Protocol',
  }),
  RECORD_CACHE_BYTES: configSpec.cacheBytes({
    default: 256 * 1024 ** 2,
    desc: 'Largest size of the cache of records, in bytes; at least 1 MiB',
  }),
  TOKEN_CACHE_ENTRIES: configSpec.num({ default: 100_000, desc: 'Largest number of tokens in the cache' }),
};

/** Returns the URL of the page of error codes. Without PUBLIC_URL it is right for an API that has no path prefix. */
export function docsUrlOf({ PUBLIC_URL, DOCS_URL }: { PUBLIC_URL: string; DOCS_URL: string }): string {
  return DOCS_URL || `${PUBLIC_URL}/docs/errors`;
}
