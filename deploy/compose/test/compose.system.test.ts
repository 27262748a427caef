import { execFile } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@brand-data/servers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { composeSchema } from '../../chart/test/tools.ts';
import { writeSecrets } from '../secrets.ts';

const ROOT = join(import.meta.dirname, '../../..');
const { COMPOSE = '' } = process.env;
if (COMPOSE === '')
  process.stderr.write(
    '\nSKIPPED: compose.yaml WAS NOT RUN: COMPOSE names no command to run it with, such as "docker compose"\n',
  );

interface Mount {
  type: string;
  source: string;
  target: string;
  read_only?: boolean;
  bind?: { create_host_path?: boolean };
}

interface Container {
  image: string;
  environment?: Record<string, string>;
  volumes?: (string | Mount)[];
  ports?: string[];
  networks: string[];
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  privileged?: boolean;
  healthcheck?: { test: string[] };
}

interface ComposeFile {
  services: Record<string, Container>;
  networks: Record<string, { internal?: boolean } | null>;
}

const read = async (path: string): Promise<ComposeFile> =>
  parse(await readFile(join(ROOT, path), 'utf8'), { merge: true });
const file = await read('compose.yaml');
const notices = await read('deploy/compose/notices.yaml');
const sync = await read('deploy/compose/sync.yaml');
const containers = Object.entries(file.services);

// Without the schema, deploy/chart/test/tools.ts reports that it is missing.
test.skipIf(composeSchema === undefined)('all are files of the Compose Specification', async () => {
  const schema = JSON.parse(await readFile(composeSchema ?? '', 'utf8'));
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  for (const each of [file, notices, sync])
    expect(validate(each), JSON.stringify(validate.errors)).toBe(true);
  expect(validate({ ...file, service: {} })).toBe(false);
});

test('only this machine reaches a port, and only those of the gateway, of images and of the page of usage', () => {
  const published = containers.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`));
  expect(published.toSorted()).toEqual([
    `gateway 127.0.0.1:\${PORT:-8080}:8080`,
    `images 127.0.0.1:\${IMAGES_PORT:-8081}:8080`,
    `usage-page 127.0.0.1:\${USAGE_PAGE_PORT:-8190}:8190`,
  ]);
});

test('only the containers with a port, metering with a webhook, and bds with sources, are in a network that leads to others', () => {
  const outside = ({ services }: ComposeFile) =>
    Object.entries(services).flatMap(([name, { networks }]) =>
      networks.filter((network) => network !== 'servers').map((network) => `${name} ${network}`),
    );
  expect(file.networks.servers).toEqual({ internal: true });
  expect(outside(file).toSorted()).toEqual(['gateway public', 'images public', 'usage-page operators']);
  expect(outside(notices)).toEqual(['metering notices']);
  expect(outside(sync)).toEqual(['bds sources']);
});

test.for(containers)(
  '%s has no right that it does not need, and no secret in its environment',
  ([, container]) => {
    expect(container).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(container.privileged).toBeUndefined();
    for (const [name, value] of Object.entries(container.environment ?? {})) {
      expect(name).not.toMatch(/(TOKEN|PASSWORD|SECRET|_KEYS?|MONGODB_URL|NATS_URL)$/);
      expect(value).not.toMatch(/:\/\/[^/]*@/);
    }
  },
);

test('no argument of a health check has a space, at which Podman 4 would split it', () => {
  const checks = containers.flatMap(([, { healthcheck }]) => healthcheck?.test ?? []);
  expect(checks).toContain('node');
  for (const argument of checks) expect(argument).not.toMatch(/\s/);
});

test('each container has a folder of secrets, sees no other, and has every file there that its environment names', async () => {
  const folder = await temporaryFolder();
  await writeSecrets(folder);
  for (const [name, { environment = {}, volumes = [] }] of containers) {
    const secrets = volumes.filter((volume) => JSON.stringify(volume).includes('SECRETS'));
    const own = name === 'seed' ? 'bds' : name;
    // If the folder is missing, `up` fails, and does not make one.
    const bind = { create_host_path: false };
    const source = `\${SECRETS:-./.compose}/${own}`;
    expect(secrets).toEqual([{ type: 'bind', source, target: '/secrets', read_only: true, bind }]);
    const there = await readdir(join(folder, own));
    const told = Object.values(environment).flatMap((value) => /^\/secrets\/(.+)$/.exec(value)?.[1] ?? []);
    expect(there).toEqual(expect.arrayContaining(told));
    // A command may name further files.
    if (environment.OPS_PORT !== undefined) expect(there.toSorted()).toEqual(told.toSorted());
  }
});

test('only their owner reaches the secrets, and the users of the containers can read those that they get', async () => {
  const folder = join(await temporaryFolder(), 'secrets');
  await writeSecrets(folder);
  const modeOf = async (path: string) => ((await stat(join(folder, path))).mode & 0o777).toString(8);
  expect(await modeOf('')).toBe('700');
  expect(await modeOf('secrets.json')).toBe('600');
  expect(await modeOf('accounts')).toBe('755');
  expect(await modeOf('accounts/TOKEN_HASH_KEY')).toBe('644');
});

test('secrets are different for each installation, and stay when they are written again', async () => {
  const [folder, other] = [await temporaryFolder(), await temporaryFolder()];
  await writeSecrets(folder);
  const before = await textsIn(folder);
  await writeSecrets(folder);
  expect(await textsIn(folder)).toEqual(before);
  await writeSecrets(other);
  const [one, another] = [await textsIn(folder), await textsIn(other)];
  for (const [name, text] of one) expect(another.get(name), name).not.toBe(text);
});

test('secrets of an older version stay, and get those that are new', async () => {
  const folder = await temporaryFolder();
  await writeSecrets(folder);
  const { noticeSecret, ...older }: Record<string, string> = JSON.parse(
    await readFile(join(folder, 'secrets.json'), 'utf8'),
  );
  await writeFile(join(folder, 'secrets.json'), JSON.stringify(older));
  await writeSecrets(folder);
  const kept = JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8'));
  expect(kept).toEqual({ ...older, noticeSecret: expect.stringMatching(/^whsec_/) });
  expect(kept.noticeSecret).not.toBe(noticeSecret);
  const given = await readFile(join(folder, 'metering/NOTICE_WEBHOOK_SECRETS'), 'utf8');
  expect(given).toBe(kept.noticeSecret);
});

test.skipIf(COMPOSE === '')(
  'three commands give a token, with which a call gets a record and its logo, and a page of usage',
  async () => {
    const secrets = await temporaryFolder();
    await writeSecrets(secrets);
    const port = await freePort();
    const pagePort = await freePort();
    const settings = {
      SECRETS: secrets,
      PORT: String(port),
      IMAGES_PORT: String(await freePort()),
      USAGE_PAGE_PORT: String(pagePort),
    };
    const [program = '', ...first] = COMPOSE.split(/\s+/);
    const compose = async (...args: string[]) => {
      const env = { ...process.env, ...settings };
      const all = [...first, '--project-name', `brand-data-${port}`, ...args];
      const { stdout } = await promisify(execFile)(program, all, { cwd: ROOT, env, maxBuffer: 1e8 });
      return stdout;
    };
    onTestFinished(async () => void (await compose('down', '--volumes')), 120_000);
    await compose('up', '--detach');
    const created = await compose('exec', '-T', 'bds', 'bds', 'key', 'create', 'demo');
    const token = /^Token +(\S+)/m.exec(created)?.[1];
    const record = await fetch(`http://127.0.0.1:${port}/api/logos/AAPL/info?token=${token}`);
    expect(record.status).toBe(200);
    const { name, logo }: { name: string; logo: string } = JSON.parse(await record.text());
    expect(name).toBe('Apple');
    expect((await fetch(logo)).status).toBe(200);
    const ana = await compose('exec', '-T', 'bds', 'bds', 'operator', 'create', 'ana', '--role', 'read');
    const credential = /^Secret +(\S+)/m.exec(ana)?.[1];
    const authorization = `Basic ${Buffer.from(`ana:${credential}`).toString('base64')}`;
    const page = await fetch(`http://127.0.0.1:${pagePort}`, { headers: { authorization } });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('Demo');
  },
  30 * 60_000,
);

/** Returns the texts of all files of a folder, by path. */
async function textsIn(folder: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) texts.set(path.slice(folder.length), await readFile(path, 'utf8'));
  }
  return texts;
}
