/**
 * `npm run compose-secrets` writes passwords, keys and certificates for compose.yaml into the folder `.compose`: for each container a
 * folder with the files that it needs. Run again, it keeps what is there and renews certificates with less than 60 days left.
 * `node deploy/compose/secrets.ts FOLDER` uses another folder.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DATABASE_SERVICES, IDENTITIES, mongodbRoleOf, SERVICES } from '@brand-data/contracts';
import { keepCertificates, replaceFile } from '@brand-data/local';
import {
  certificateFiles,
  mongodbPasswordOf,
  mongodbUrlOf,
  natsUrlOf,
  natsUsers,
  newSecrets,
  newSigningKeys,
  publicKeyOf,
  type Secrets,
} from '@brand-data/servers';

const ROOT = join(import.meta.dirname, '../..');
const MONGODB_URL = 'mongodb://mongodb:27017/?replicaSet=brand-data';
const NATS_URL = 'nats://nats:4222';
const NATS_CONF = join(ROOT, 'deploy/chart/files/nats.conf');

/** `noticeSecret` signs the notices to a webhook. */
type Kept = Secrets & { passSigningKey: string; noticeSecret: string };

/** Writes the files of all containers. Only this user can enter `folder`; the users of the containers read the files in it. */
export async function writeSecrets(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const secrets = await keepSecrets(join(folder, 'secrets.json'));
  await keepCertificates(join(folder, 'certificates'));
  for (const [container, files] of Object.entries(filesOf(secrets, await readFile(NATS_CONF, 'utf8')))) {
    const own = join(folder, container);
    await mkdir(own, { recursive: true });
    await chmod(own, 0o755);
    for (const [name, text] of Object.entries({ ...files, ...(await certificateOf(folder, container)) }))
      await replaceFile(join(own, name), text, 0o644);
  }
}

/** Returns the files of each container by name, without certificates. */
function filesOf(secrets: Kept, natsConf: string): Record<string, Record<string, string>> {
  const { operatorToken, serverSecret, monogramKey: MONOGRAM_KEYS } = secrets;
  const PASS_PUBLIC_KEYS = publicKeyOf(secrets.passSigningKey);
  const urls = Object.fromEntries(
    SERVICES.map((service) => [service, { NATS_URL: natsUrlOf(service, NATS_URL, serverSecret) }]),
  );
  const stored = (service: (typeof DATABASE_SERVICES)[number]) => ({
    ...urls[service],
    MONGODB_URL: mongodbUrlOf(`brand_data_${service}`, MONGODB_URL, serverSecret),
    OPERATOR_TOKEN: operatorToken,
  });
  // The key by which members of a replica set know each other: letters that base64 has.
  const key = mongodbPasswordOf(serverSecret, 'key').replaceAll(/[-_]/g, '');
  const users = DATABASE_SERVICES.map((service) => {
    const name = `brand_data_${service}`;
    const { privileges, roles } = mongodbRoleOf(service, name);
    return { name, password: mongodbPasswordOf(serverSecret, name), privileges, roles };
  });
  return {
    gateway: { ...urls.gateway, MONOGRAM_KEYS },
    accounts: {
      ...stored('accounts'),
      TOKEN_HASH_KEY: secrets.tokenHashKey,
      ALLOWANCE_SIGNING_KEY: secrets.allowanceSigningKey,
      PASS_SIGNING_KEY: secrets.passSigningKey,
    },
    catalog: { ...stored('catalog'), PASS_PUBLIC_KEYS },
    metering: {
      ...stored('metering'),
      PASS_PUBLIC_KEYS,
      ALLOWANCE_PUBLIC_KEYS: publicKeyOf(secrets.allowanceSigningKey),
      NOTICE_WEBHOOK_SECRETS: secrets.noticeSecret,
    },
    images: { ...stored('images'), PASS_PUBLIC_KEYS, MONOGRAM_KEYS },
    bds: { OPERATOR_TOKEN: operatorToken },
    'usage-page': {},
    nats: { 'nats.conf': `MAX_FILE_STORE: 2Gi\n${natsConf}${natsUsers(serverSecret).join('\n')}\n` },
    mongodb: { key },
    'mongodb-init': { key, 'users.json': JSON.stringify(users) },
  };
}

async function certificateOf(folder: string, container: string): Promise<Record<string, string>> {
  const identity = container === 'usage-page' ? 'bds' : container;
  if (!IDENTITIES.some((known) => known === identity)) return {};
  const { cert, key, ca } = certificateFiles(join(folder, 'certificates'), identity);
  const [crt, pem, authority] = await Promise.all([cert, key, ca].map((file) => readFile(file, 'utf8')));
  return { 'tls.crt': crt ?? '', 'tls.key': pem ?? '', 'ca.crt': authority ?? '' };
}

/**
 * Reads the secrets, and makes those that are missing: all of them, or those that an upgrade adds. Existing secrets are never
 * replaced, because tokens and the servers' data would be lost.
 */
async function keepSecrets(file: string): Promise<Kept> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return '{}';
  });
  const secrets: Kept = {
    ...newSecrets(),
    passSigningKey: newSigningKeys().signing,
    noticeSecret: `whsec_${randomBytes(32).toString('base64')}`,
    ...JSON.parse(text),
  };
  await replaceFile(file, JSON.stringify(secrets));
  return secrets;
}

if (import.meta.main) await writeSecrets(resolve(process.argv[2] ?? join(ROOT, '.compose')));
