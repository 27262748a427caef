import { MOST_USAGE_STREAMS } from '@brand-data/contracts';
import {
  configSpec,
  databaseSpec,
  grpcPortsSpec,
  natsSpec,
  PASS_PUBLIC_KEYS,
  streamSpec,
} from '@brand-data/runtime';

/** The settings of `set-up`, which the service has too. */
export const storageSpec = {
  ...streamSpec,
  ...databaseSpec('brand_data_metering'),
  ...natsSpec,
  USAGE_STREAMS: configSpec.num({
    default: 1,
    choices: Array.from({ length: MOST_USAGE_STREAMS }, (_, index) => index + 1),
    desc: 'Number of usage streams; to raise it, change metering before the gateways; to lower it, change the gateways first',
  }),
  USAGE_STREAM_MAX_BYTES: configSpec.num({
    default: 1024 ** 3,
    desc: 'Largest size of each usage stream, in bytes; the stream fills while metering or MongoDB is unavailable',
  }),
};

export const serviceSpec = {
  ...storageSpec,
  ...grpcPortsSpec('Metering'),
  PASS_PUBLIC_KEYS,
  ALLOWANCE_PUBLIC_KEYS: configSpec.verifyingKeys({
    desc: 'Public keys of accounts, with which metering verifies limits: Ed25519, in PEM; several while the key is replaced',
  }),
  NOTICE_WEBHOOK_URL: configSpec.httpUrl({
    default: undefined,
    desc: 'URL that gets a notice when an account passes 80 or 100 percent of its allowance; by default none does',
  }),
  NOTICE_WEBHOOK_SECRETS: configSpec.webhookSecrets({
    default: undefined,
    requiredWhen: ({ NOTICE_WEBHOOK_URL }) => NOTICE_WEBHOOK_URL !== undefined,
    desc: 'Secret with which notices are signed: whsec_ and 24 to 64 random bytes in base64; or two, each on a line of its own, which both sign; required with NOTICE_WEBHOOK_URL',
  }),
};
