import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { expect, test, vi } from 'vitest';
import { adminPortSpec, ConfigError, configSpec, parseConfig } from '../src/config/config.ts';
import { followFile } from '../src/config/setting-files.ts';
import { connectionOptions, credentialsOf, problemOfServer } from '../src/nats/nats.ts';
import { createLogger } from '../src/observe/log.ts';

const { OPERATOR_TOKEN } = adminPortSpec('Test');
const spec = {
  MONGODB_URL: configSpec.mongodbUrl({ desc: 'MongoDB' }),
  NATS_URL: configSpec.natsUrl({ desc: 'NATS' }),
};
const right = {
  MONGODB_URL: 'mongodb://me:secret@a:27017,b:27017,c:27017/?replicaSet=rs',
  NATS_URL: 'tls://me:secret@a:4222,tls://b:4222',
};

test('servers may be several, and what is wrong with their URLs is said without a password in it', () => {
  expect(parseConfig(right, spec)).toEqual(right);
  expect(parseConfig({ ...right, MONGODB_URL: 'mongodb+srv://cluster.example.com' }, spec)).toBeDefined();
  const wrong = { MONGODB_URL: 'http://me:secret@a', NATS_URL: 'ws://me:secret@a' };
  expect(() => parseConfig(wrong, spec)).toThrow(ConfigError);
  expect(() => parseConfig(wrong, spec)).toThrow(/MONGODB_URL: must look like.*NATS_URL: must look like/s);
  expect(() => parseConfig(wrong, spec)).not.toThrow(/secret/);
});

test.each([
  ['https://api.example.com/images', 'https://api.example.com/images'],
  ['https://api.example.com/images/', 'https://api.example.com/images'],
  ['http://127.0.0.1:8100', 'http://127.0.0.1:8100'],
])('the base URL %s is accepted without a slash at its end', (text, url) => {
  expect(parseConfig({ URL: text }, { URL: configSpec.baseUrl() })).toEqual({ URL: url });
});

test.each([
  ['api.example.com/images', 'must look like https://host/path'],
  ['ftp://api.example.com', 'must look like https://host/path'],
  ['https://me:hidden@api.example.com', 'must not contain a user or a password'],
  ['https://api.example.com/images?size=64', 'must not contain a query or a fragment'],
  ['https://api.example.com/#images', 'must not contain a query or a fragment'],
])('the base URL %s is refused: it %s', (text, reason) => {
  const parse = () => parseConfig({ URL: text }, { URL: configSpec.baseUrl({ desc: 'Base' }) });
  expect(parse).toThrow(`URL: ${reason} (Base)`);
  expect(parse).not.toThrow(/hidden/);
});

test.each(['0', '-1', '1048575', '2000000.5', 'Infinity', 'NaN', '64Mi', '1e400', ''])(
  'a cache of %j bytes is refused, with the smallest size in the message',
  (size) => {
    const parse = () => parseConfig({ CACHE: size }, { CACHE: configSpec.cacheBytes() });
    expect(parse).toThrow('CACHE: must be a whole number of bytes, at least 1048576');
  },
);

test.each([2 ** 20, 2 ** 40])('a cache of %i bytes is accepted', (size) => {
  const spec = { CACHE: configSpec.cacheBytes() };
  expect(parseConfig({ CACHE: String(size) }, spec)).toEqual({ CACHE: size });
});

test.each(['', 'x', 'fifteen letters'])('a secret of %j is refused', (secret) => {
  const parse = () => parseConfig({ OPERATOR_TOKEN: secret }, { OPERATOR_TOKEN });
  expect(parse).toThrow(/^wrong settings:\n {2}OPERATOR_TOKEN: shorter than 16 characters \([^)]*\)$/);
});

test('a secret of 16 characters is accepted', () => {
  const environment = { OPERATOR_TOKEN: 'sixteen letters.' };
  expect(parseConfig(environment, { OPERATOR_TOKEN })).toEqual({ OPERATOR_TOKEN: ['sixteen letters.'] });
});

test('two operator tokens are lines, and neither may be short', () => {
  const parse = (text: string) => parseConfig({ OPERATOR_TOKEN: text }, { OPERATOR_TOKEN }).OPERATOR_TOKEN;
  const [one, other] = ['sixteen letters.', 'another sixteen letters.'];
  for (const text of [`${one}\n${other}`, `\n${one}\r\n${other}\r\n`])
    expect(parse(text)).toEqual([one, other]);
  expect(() => parse(`${one}\nfifteen letters`)).toThrow(/shorter than 16 characters/);
  expect(() => parse(`${one}\n${one}\n${one}`)).toThrow(/more than two lines/);
  expect(() => parse(`${one}\nfifteen letters`)).not.toThrow(/letters/);
});

test.each(['accounts', 'catalog', 'metering'])(
  '%s refuses a short operator token at its start, along with all other wrong settings',
  async (name) => {
    const main = new URL(`../../../services/${name}/src/main.ts`, import.meta.url);
    const environment = { OPERATOR_TOKEN: 'fifteen letters', GRPC_PORT: 'none' };
    const child = spawn(process.execPath, [fileURLToPath(main)], {
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(code).toBe(1);
    expect(output).toContain(`${name}: wrong settings:\n`);
    expect(output).toContain('\n  OPERATOR_TOKEN: shorter than 16 characters (Credential');
    expect(output).toContain('\n  GRPC_PORT: ');
    expect(output).not.toContain('fifteen letters');
  },
);

test('credentials and encryption that a NATS URL asks for are used', () => {
  const open = 'nats://a:4222,nats://b:4222';
  expect(connectionOptions(open)).toEqual({ servers: ['a:4222', 'b:4222'], tls: false });
  expect(credentialsOf(open)).toBeUndefined();
  const encrypted = 'tls://me:p%40ss@a:4222,tls://b';
  expect(connectionOptions(encrypted)).toEqual({ servers: ['a:4222', 'b'], tls: true });
  expect(credentialsOf(encrypted)).toEqual({ user: 'me', pass: 'p@ss' });
  expect(credentialsOf('nats://token@a:4222')).toEqual({ auth_token: 'token' });
});

test.each(['2.9.10', '2.11.17', '2.12.1', '2.12.12', '1.4.0', '', 'unknown'])(
  'a nats-server %s is refused, with the version that is needed',
  (version) => {
    expect(problemOfServer(version)).toContain('2.14 or newer');
  },
);

test.each(['2.14.0', '2.15.1', '2.16.0-RC.1', '3.0.0'])('a nats-server %s is used', (version) => {
  expect(problemOfServer(version)).toBeUndefined();
});

test('a setting may be in a file, and the end of the file is no part of it', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'operator-token');
  await writeFile(path, 'a token in a file\n');
  expect(parseConfig({ OPERATOR_TOKEN_FILE: path }, { OPERATOR_TOKEN })).toEqual({
    OPERATOR_TOKEN: ['a token in a file'],
  });
  await writeFile(path, 'fifteen letters\n');
  const short = () => parseConfig({ OPERATOR_TOKEN_FILE: path }, { OPERATOR_TOKEN });
  expect(short).toThrow('OPERATOR_TOKEN: shorter than 16 characters');
  expect(short).not.toThrow(/fifteen letters/);
  await rm(path);
  const missing = () =>
    parseConfig({ OPERATOR_TOKEN_FILE: path, PORT: 'none' }, { OPERATOR_TOKEN, PORT: configSpec.port() });
  expect(missing).toThrow(/OPERATOR_TOKEN: the file that OPERATOR_TOKEN_FILE names does not exist/);
  expect(missing).toThrow(/PORT: /);
  const optional = configSpec.secret({ default: undefined, desc: 'A secret that need not be there' });
  expect(parseConfig({ OPTIONAL_FILE: path }, { OPTIONAL: optional })).toEqual({ OPTIONAL: undefined });
  const both = { OPERATOR_TOKEN: 'sixteen letters.', OPERATOR_TOKEN_FILE: path };
  expect(() => parseConfig(both, { OPERATOR_TOKEN })).toThrow(
    /OPERATOR_TOKEN: set both here and in the file/,
  );
});

test('a setting in a file is read again when the file is replaced, and an unusable value is not taken', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'link');
  const replaceBy = async (text: string) => {
    // As Kubernetes does: a new file, and a symbolic link that is renamed to the old one's name.
    const file = join(folder, randomUUID());
    await writeFile(file, text);
    await symlink(file, `${path}.new`);
    await rename(`${path}.new`, path);
  };
  await replaceBy('first\n');
  const taken: string[] = [];
  const log = createLogger('test', 'silent');
  const stop = followFile({ path, what: 'X', log }, (text) => {
    if (text === 'unusable') throw new Error('not this');
    taken.push(text);
  });
  await replaceBy('second\n');
  await vi.waitFor(() => expect(taken).toEqual(['second']), { timeout: 60_000 });
  await replaceBy('unusable');
  await replaceBy('third');
  await vi.waitFor(() => expect(taken).toEqual(['second', 'third']), { timeout: 60_000 });
  stop();
});
