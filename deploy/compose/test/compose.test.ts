import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../../../test/stack/temporary-folder.ts';
import { composeSchema } from '../../chart/test/tools.ts';
import { freePort } from '../../local/src/ports.ts';
import { writeSecrets } from '../secrets.ts';

const ROOT = join(import.meta.dirname, '../../..');
const { COMPOSE = '' } = process.env;
if (COMPOSE === '')
  process.stderr.write(
    '\nSKIPPED: compose.yaml WAS NOT RUN: COMPOSE names no command to run it with, such as "docker compose"\n',
  );

interface Container {
  image: string;
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  networks: string[];
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  privileged?: boolean;
  healthcheck?: { test: string[] };
}

const file: { services: Record<string, Container>; networks: Record<string, { internal?: boolean } | null> } =
  parse(await readFile(join(ROOT, 'compose.yaml'), 'utf8'), { merge: true });
const containers = Object.entries(file.services);

// Without the schema, deploy/chart/test/tools.ts reports that it is missing.
test.skipIf(composeSchema === undefined)('compose.yaml is a file of the Compose Specification', async () => {
  const schema = JSON.parse(await readFile(composeSchema ?? '', 'utf8'));
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  expect(validate(file), JSON.stringify(validate.errors)).toBe(true);
  expect(validate({ ...file, service: {} })).toBe(false);
});

test('only this machine reaches a port, and only those of the gateway and of images', () => {
  const published = containers.filter(([, { ports = [] }]) => ports.length > 0);
  expect(published.map(([name]) => name).toSorted()).toEqual(['gateway', 'images']);
  for (const [, { ports = [] }] of published)
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\$\{\w+:-\d+\}:8080$/);
  expect(file.networks.servers).toEqual({ internal: true });
  const outside = containers.filter(([, { networks }]) => networks.some((name) => name !== 'servers'));
  expect(outside.map(([name]) => name).toSorted()).toEqual(['gateway', 'images']);
});

test.for(containers)(
  '%s has no right that it does not need, and no secret in its environment',
  ([, container]) => {
    expect(container).toMatchObject({
      ...{ read_only: true, cap_drop: ['ALL'] },
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
    const secrets = volumes.filter((volume) => volume.includes('SECRETS'));
    const own = name === 'seed' ? 'bds' : name;
    expect(secrets).toEqual([`\${SECRETS:-./.compose}/${own}:/secrets:ro`]);
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

test.skipIf(COMPOSE === '')(
  'three commands give a token, with which a call gets a record and its logo',
  async () => {
    const secrets = await temporaryFolder();
    await writeSecrets(secrets);
    const port = await freePort();
    const settings = { SECRETS: secrets, PORT: String(port), IMAGES_PORT: String(await freePort()) };
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
  },
  30 * 60_000,
);

/** The texts of all files of a folder, by path. */
async function textsIn(folder: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) texts.set(path.slice(folder.length), await readFile(path, 'utf8'));
  }
  return texts;
}
