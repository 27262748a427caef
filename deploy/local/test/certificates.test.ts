import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IDENTITIES } from '@brand-data/contracts';
import { Certificates } from '@brand-data/runtime';
import { certificateFiles } from '@brand-data/servers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { beforeEach, expect, test } from 'vitest';
import { keepCertificates } from '../src/certificates.ts';

const DAY_MS = 86_400_000;

let folder: string;

beforeEach(async () => {
  folder = join(await temporaryFolder(), 'certificates');
  await keepCertificates(folder);
});

const textsOf = (files: readonly string[]) => Promise.all(files.map((file) => readFile(file, 'utf8')));
const allOf = (identity: string) => textsOf(Object.values(certificateFiles(folder, identity)));

test('every identity gets a certificate that services accept, and only its owner can read the keys', async () => {
  for (const identity of IDENTITIES) {
    const files = certificateFiles(folder, identity);
    const { own } = Certificates.read(identity, files).expiry;
    expect(own - Date.now()).toBeGreaterThan(364 * DAY_MS);
    expect((await stat(files.key)).mode & 0o777).toBe(0o600);
  }
  expect((await stat(join(folder, 'ca.key'))).mode & 0o777).toBe(0o600);
});

test('certificates are kept until 60 days before their end, and then renewed by the same authority', async () => {
  const before = await allOf('gateway');
  await keepCertificates(folder, Date.now() + 300 * DAY_MS);
  expect(await allOf('gateway')).toEqual(before);
  await keepCertificates(folder, Date.now() + 306 * DAY_MS);
  const [cert, key, ca] = await allOf('gateway');
  expect([cert === before[0], key === before[1], ca === before[2]]).toEqual([false, false, true]);
});

test('a pair that a crash has left half-written is replaced, and so are all after a lost authority', async () => {
  const { key } = certificateFiles(folder, 'metering');
  await writeFile(key, await readFile(certificateFiles(folder, 'catalog').key));
  await keepCertificates(folder);
  expect(Certificates.read('metering', certificateFiles(folder, 'metering'))).toBeDefined();

  const before = await allOf('bds');
  await writeFile(join(folder, 'ca.key'), '');
  await keepCertificates(folder);
  const after = await allOf('bds');
  for (const [index, text] of after.entries()) expect(text).not.toBe(before[index]);
});
