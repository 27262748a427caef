import { randomUUID } from 'node:crypto';
import { Fault } from '@brand-data/runtime';
import { expect, test, vi } from 'vitest';
import { type Given, putImage } from '../src/admin/put.ts';
import type { Form, PictureKind, Theme } from '../src/image/image.ts';
import { fileOf, standInWorkers } from './stand-in-workers.ts';
import { storeOfTest } from './store-of-test.ts';

async function testPut({ workers = standInWorkers } = {}) {
  const { store, mongo } = await storeOfTest();
  const put = (light: Given, dark?: Uint8Array, kind: PictureKind = 'logo') =>
    putImage({ store, workers, nowMs: Date.now }, { kind, light, dark });
  return { put, store, documents: mongo.db.collection('images') };
}

test('a dry run answers like a put and stores nothing, not even that an image was put', async () => {
  const { store, mongo } = await storeOfTest();
  const of = { store, workers: standInWorkers, nowMs: Date.now };
  const documents = mongo.db.collection('images');
  const wanted = { kind: 'logo', light: { file: acme }, dark: undefined } as const;
  const dry = await putImage(of, { ...wanted, isDryRun: true });
  expect(await documents.countDocuments()).toBe(0);
  expect(await putImage(of, wanted)).toEqual(dry);
  const before = await documents.find().toArray();
  const stored = { ...wanted, light: { storedPath: dry.id } };
  await putImage(of, { ...stored, isDryRun: true });
  const dryDark = await putImage(of, { ...stored, dark: acmeDark, isDryRun: true });
  expect(await documents.find().toArray()).toEqual(before);
  expect(await putImage(of, { ...stored, dark: acmeDark })).toEqual(dryDark);
});

const acme = fileOf({ name: 'acme' });
const acmeDark = fileOf({ name: 'acme on black' });

test('putting the same image again, also at the same time, stores it once and gives the same answer', async () => {
  const { put, documents } = await testPut();
  const answers = await Promise.all(Array.from({ length: 8 }, () => put({ file: acme })));
  answers.push(await put({ file: acme }));
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(answers[0]?.id).toMatch(/^logos\/[0-9a-f]{32}$/);
  expect(await documents.countDocuments()).toBe(1);
});

test('files that were put before are not made into an image again, and their image counts as put again', async () => {
  const ingest = vi.fn(standInWorkers.ingest);
  const { put, documents } = await testPut({ workers: { ...standInWorkers, ingest } });
  const first = await put({ file: acme }, acmeDark);
  await documents.updateOne({}, { $set: { putAt: new Date(0), unnamedSince: new Date(0) } });
  expect(await put({ file: acme }, acmeDark)).toEqual(first);
  expect(ingest).toHaveBeenCalledTimes(1);
  const [stored] = await documents.find().toArray();
  expect(stored?.putAt).not.toEqual(new Date(0));
  expect(stored).not.toHaveProperty('unnamedSince');
  await put({ file: acme });
  await put({ file: acmeDark }, acme);
  await put({ file: acme }, acmeDark, 'banner');
  expect(ingest).toHaveBeenCalledTimes(4);
  // A removed image is made again.
  await documents.deleteMany({});
  expect(await put({ file: acme }, acmeDark)).toEqual(first);
  expect(ingest).toHaveBeenCalledTimes(5);
});

test('another kind, another light form or another dark form is another image', async () => {
  const { put } = await testPut();
  const ids = [
    await put({ file: acme }),
    await put({ file: acme }, acmeDark),
    await put({ file: acmeDark }, acme),
    await put({ file: acmeDark }),
    await put({ file: acme }, undefined, 'banner'),
    await put({ file: acme }, undefined, 'exchange'),
  ].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.map((id) => id.split('/')[0])).toEqual([
    'logos',
    'logos',
    'logos',
    'logos',
    'banners',
    'exchanges',
  ]);
});

test('a stored image gets another dark form by its path, and its old URLs go on leading to the old forms', async () => {
  const { put, store } = await testPut();
  const first = await put({ file: acme });
  const second = await put({ storedPath: `${first.id}.svg?size=64` }, acmeDark);
  expect(second).toEqual(await put({ file: acme }, acmeDark));
  expect(second.id).not.toBe(first.id);
  const darkOf = async (id: string) =>
    Buffer.from((await store.findForm(id, 'dark'))?.form.bytes ?? []).toString();
  expect(await darkOf(first.id)).toContain('"acme"');
  expect(await darkOf(second.id)).toContain('acme on black');
  expect(await put({ storedPath: first.id })).toEqual(first);
});

test('the store reads the small form for the pages that it is made for, and states the forms as they are stored', async () => {
  const { put, store } = await testPut();
  for (const { id, small, light, dark } of [await put({ file: acme }), await put({ file: acme }, acmeDark)]) {
    const smallFor = async (theme: Theme) => (await store.findForm(id, theme))?.small;
    expect(await smallFor('light')).toEqual(small);
    expect(await smallFor('dark')).toEqual(dark ? undefined : small);
    const stated = ({ format, width, height }: Form) => ({ format, width, height });
    const forms = { light: stated(light), ...(dark && { dark: stated(dark) }) };
    expect(await store.findStated(id)).toEqual(forms);
    expect((await store.findForm(id, 'dark'))?.stated).toEqual(forms);
  }
});

test('the small form stays as it was stored first, although a later version would draw it otherwise', async () => {
  let version = 1;
  const { put, store } = await testPut({
    workers: {
      ...standInWorkers,
      render: async (...given) => ({
        ...(await standInWorkers.render(...given)),
        bytes: Buffer.from(`drawn by version ${version}`),
      }),
    },
  });
  const first = await put({ file: acme });
  version = 2;
  const again = await put({ file: acme });
  expect(Buffer.from(again.small.bytes).toString()).toBe('drawn by version 1');
  const { small } = (await store.findForm(first.id, 'light')) ?? {};
  expect(Buffer.from(small?.bytes ?? []).toString()).toBe('drawn by version 1');
});

test.each([
  ['an empty file', { file: Buffer.alloc(0) }, undefined, /is empty/],
  ['a file of more than 4 MiB', { file: Buffer.alloc(4 * 1024 ** 2 + 1) }, undefined, /at most 4194304/],
  ['an empty dark file', { file: acme }, Buffer.alloc(0), /dark file is empty/],
  ['a path that is none', { storedPath: 'logos/apple.svg' }, undefined, /looks like logos\//],
  [
    'a path of another kind',
    { storedPath: `banners/${'0'.repeat(32)}.png` },
    undefined,
    /looks like logos\//,
  ],
] as const)('%s is refused, with the reason', async (_what, light, dark, message) => {
  const { put, documents } = await testPut();
  await expect(put(light, dark)).rejects.toMatchObject({
    kind: 'invalid_argument',
    message: expect.stringMatching(message),
  });
  expect(await documents.countDocuments()).toBe(0);
});

test('a path of an image that is not stored is not found', async () => {
  const { put } = await testPut();
  await expect(put({ storedPath: `logos/${'0'.repeat(32)}.svg` })).rejects.toMatchObject({
    kind: 'not_found',
  });
});

test('forms that MongoDB could not store are refused', async () => {
  const { put } = await testPut({
    workers: {
      ...standInWorkers,
      ingest: async () => ({
        light: { format: 'png', width: 2_048, height: 2_048, bytes: Buffer.alloc(16 * 1024 ** 2) },
        treatments: { light: 'as_given', dark: 'as_given' },
      }),
    },
  });
  await expect(put({ file: acme })).rejects.toMatchObject({ kind: 'invalid_argument' });
});

test('an image whose small form cannot be drawn is refused, with the reason', async () => {
  const { put, documents } = await testPut({
    workers: {
      ...standInWorkers,
      render: () => Promise.reject(new Fault('failed_precondition', 'it takes too long: simplify it')),
    },
  });
  await expect(put({ file: acme })).rejects.toMatchObject({
    kind: 'invalid_argument',
    message: 'it takes too long: simplify it',
  });
  expect(await documents.countDocuments()).toBe(0);
});

test('the workers are told which light form is stored already', async () => {
  const ingest = vi.fn(standInWorkers.ingest);
  const { put } = await testPut({ workers: { ...standInWorkers, ingest } });
  const { id } = await put({ file: acme });
  await put({ storedPath: id }, acmeDark);
  expect(ingest.mock.calls.map(([, options]) => options.isStored)).toEqual([false, true]);
});

test('what the workers refuse is not stored', async () => {
  const refusal = new Fault('invalid_argument', 'it has a script: remove it');
  const { put, documents } = await testPut({
    workers: { ...standInWorkers, ingest: () => Promise.reject(refusal) },
  });
  await expect(put({ file: Buffer.from(randomUUID()) })).rejects.toBe(refusal);
  expect(await documents.countDocuments()).toBe(0);
});
