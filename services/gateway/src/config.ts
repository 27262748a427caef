import { configSpec } from '@brand-data/runtime';

export const serviceSpec = {
  PORT: configSpec.port({ desc: 'Port of the public API' }),
  ACCOUNTS_TARGET: configSpec.str({ desc: 'host:port of AccountsService' }),
  CATALOG_TARGET: configSpec.str({ desc: 'host:port of CatalogService' }),
  METERING_TARGET: configSpec.str({ desc: 'host:port of MeteringService' }),
  NATS_URL: configSpec.natsUrl({ desc: 'NATS servers, comma-separated, nats://…' }),
  USAGE_STREAMS: configSpec.num({
    default: 1,
    choices: Array.from({ length: 16 }, (_, index) => index + 1),
    desc: 'Number of usage streams that gateways publish to; raise it in metering first',
  }),
  LOGO_HOST: configSpec.url({
    desc: 'Base URL of the images in records, for example https://logos.example.com',
  }),
  DOCS_URL: configSpec.str({
    default: '/docs/errors',
    desc: "URL of the page of error codes, with which a problem's `type` begins; the gateway serves this page at /docs/errors",
  }),
  RECORD_CACHE_BYTES: configSpec.num({
    default: 256 * 1024 ** 2,
    desc: 'Largest size of the cache of records',
  }),
  TOKEN_CACHE_ENTRIES: configSpec.num({ default: 100_000, desc: 'Largest number of tokens in the cache' }),
};
