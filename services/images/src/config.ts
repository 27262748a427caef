import {
  adminPortSpec,
  configSpec,
  databaseSpec,
  MONOGRAM_KEYS,
  NATS_CA,
  PASS_PUBLIC_KEYS,
  TRUSTED_PROXIES,
} from '@brand-data/runtime';

/** The settings that `set-up` needs too. */
export const storageSpec = databaseSpec('brand_data_images');

export const serviceSpec = {
  ...storageSpec,
  PORT: configSpec.port({ desc: 'Port of the public HTTP server of images' }),
  MONOGRAM_KEYS,
  TRUSTED_PROXIES,
  ...adminPortSpec('Images'),
  PASS_PUBLIC_KEYS,
  NATS_URL: configSpec.natsUrl({
    desc: "NATS servers, comma-separated, nats://…; images needs them only for the trail of operators' changes",
  }),
  NATS_CA,
  IMAGE_CACHE_BYTES: configSpec.cacheBytes({
    default: 128 * 1024 ** 2,
    desc: 'Largest size of the cache of answers, in bytes; at least 1 MiB',
  }),
  IMAGE_WORKERS: configSpec.num({
    default: 2,
    choices: Array.from({ length: 16 }, (_, index) => index + 1),
    desc: 'Number of processes that decode and draw images; each uses at most one core and 256 MB',
  }),
};
