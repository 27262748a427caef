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
    desc: 'Usage streams that gateways are spread over; metering has to have as many before',
  }),
  LOGO_HOST: configSpec.url({
    desc: 'Where the images of records are served, for example https://logos.example.com',
  }),
  DOCS_URL: configSpec.str({
    default: '/docs/errors',
    desc: "Page of the error codes, the beginning of a problem's type; the gateway serves one itself at /docs/errors",
  }),
  RECORD_CACHE_BYTES: configSpec.num({
    default: 256 * 1024 ** 2,
    desc: 'Largest size of the cache of records',
  }),
  TOKEN_CACHE_ENTRIES: configSpec.num({ default: 100_000, desc: 'Most tokens to remember' }),
};
