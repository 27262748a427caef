import { randomUUID } from 'node:crypto';
import { type Image, ImageKind, ImagesAdminServiceClient, Treatment } from '@brand-data/contracts';
import { monogramImages, monogramOf } from '@brand-data/monograms';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import fc from 'fast-check';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { FORMATS, SIZES, THEMES } from '../src/image/image.ts';
import { measure, rasterFiles, svgFiles } from './pictures-of-test.ts';
import { MONOGRAM_KEY, type RunningImages, startImages } from './running-images.ts';

const CACHE_BYTES = 1024 ** 2;
const MARK = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 12"><path d="M0 0h24v12H0z" fill="#000"/></svg>',
);

let images: RunningImages;
let mongo: MongoClient;
const database = `images-${randomUUID()}`;
const documents = () => mongo.db(database).collection('images');

beforeAll(async () => {
  mongo = new MongoClient(inject('mongodbUrl'));
  images = await startImages(
    { mongodbUrl: inject('mongodbUrl'), database },
    { IMAGE_CACHE_BYTES: String(CACHE_BYTES), IMAGE_WORKERS: '1', TRUSTED_PROXIES: '127.0.0.0/8' },
  );
});
afterAll(async () => {
  await images?.stop();
  await mongo?.db(database).dropDatabase();
  await mongo?.close();
});

async function fetchImage(path: string): Promise<{ response: Response; bytes: Buffer }> {
  const response = await fetch(`${images.logoHost}/${path}`);
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

async function expectAsStated({ path, width, height, format, sizeKb }: Image): Promise<void> {
  const { response, bytes } = await fetchImage(path);
  expect([path, response.status]).toEqual([path, 200]);
  expect({ path, ...(await measure(bytes)) }).toEqual({ path, width, height, format });
  expect(Math.round((bytes.length / 1024) * 100) / 100).toBe(sizeKb);
}

test('every image that was put is answered with exactly the width, height, format and size that are stated', async () => {
  const files = fc.oneof(
    svgFiles.map(async (file) => file),
    rasterFiles,
  );
  await fc.assert(
    fc.asyncProperty(files, fc.option(files, { nil: undefined }), async (file, dark) => {
      const { big, small } = await images.putLogo(await file, await dark);
      await expectAsStated(big);
      await expectAsStated(small);
      expect(Math.max(small.width ?? 0, small.height ?? 0)).toBeLessThanOrEqual(64);
    }),
    { numRuns: 20 },
  );
});

test('every size, format and theme of an SVG and of a raster is answered as asked for, or 400', async () => {
  const [raster] = fc.sample(rasterFiles, { numRuns: 1, seed: 7 });
  for (const file of [MARK, (await raster) ?? MARK]) {
    const { big } = await images.putLogo(file);
    const [hash] = big.path.split('.');
    for (const format of FORMATS)
      for (const theme of THEMES)
        for (const size of [undefined, ...SIZES]) {
          const path = `${hash}.${format}?theme=${theme}${size ? `&size=${size}` : ''}`;
          const { response, bytes } = await fetchImage(path);
          if (format === 'svg' && big.format !== 'svg') {
            expect([path, response.status]).toEqual([path, 400]);
            continue;
          }
          expect([path, response.status]).toEqual([path, 200]);
          const measured = await measure(bytes);
          expect(measured.format).toBe(format);
          const own = Math.max(big.width ?? 0, big.height ?? 0);
          const longer = size === undefined ? own : big.format === 'svg' ? size : Math.min(size, own);
          expect([path, Math.max(measured.width, measured.height)]).toEqual([path, longer]);
        }
  }
});

test('a mark of one colour is recoloured for dark pages, and has another picture there', async () => {
  const answer = await images.put({ kind: ImageKind.LOGO, light: { $case: 'file', value: MARK } });
  expect(answer).toMatchObject({
    lightTreatment: Treatment.AS_GIVEN,
    darkTreatment: Treatment.RECOLOURED,
    big: { format: 'svg', width: 512, height: 256 },
    small: { format: 'svg', width: 64, height: 32 },
  });
  const path = answer.big?.path ?? '';
  expect(path).toMatch(/^logos\/[0-9a-f]{32}\.svg$/);
  const [light, dark] = await Promise.all([fetchImage(path), fetchImage(`${path}?theme=dark`)]);
  expect(dark.bytes.equals(light.bytes)).toBe(false);
  expect(dark.response.headers.get('etag')).not.toBe(light.response.headers.get('etag'));
});

test('a monogram is answered as its path says, in all sizes and formats, without being stored', async () => {
  const before = await documents().countDocuments();
  for (const name of ['Acme', 'Société Générale', '東京', '🦆'] as const) {
    const { big, small } = monogramImages(monogramOf({ id: name, name }), MONOGRAM_KEY);
    await expectAsStated(big);
    await expectAsStated(small);
    const { response, bytes } = await fetchImage(`${big.path}?size=128&format=png&theme=dark`);
    expect(response.status).toBe(200);
    expect(await measure(bytes)).toEqual({ format: 'png', width: 128, height: 128 });
  }
  const { big } = monogramImages(monogramOf({ id: 'acme', name: 'Acme' }), MONOGRAM_KEY);
  const other = big.path.replace(/[0-9a-f]\.svg$/, (end) => (end[0] === '0' ? '1.svg' : '0.svg'));
  const { response, bytes } = await fetchImage(other);
  expect(response.status).toBe(404);
  expect(JSON.parse(bytes.toString())).toMatchObject({
    code: 'image_not_found',
    detail: expect.stringContaining('Ask for the record again'),
  });
  expect(await documents().countDocuments()).toBe(before);
});

test('a refused file is INVALID_ARGUMENT with the reason, and without the operator credential nothing is stored', async () => {
  await expect(images.putLogo(Buffer.from('this is no picture'))).rejects.toMatchObject({
    kind: 'invalid_argument',
  });
  const stranger = connectChannel(ImagesAdminServiceClient, images.adminTarget, channelAs('bds', 'images'));
  const request = {
    kind: ImageKind.LOGO,
    light: { $case: 'file' as const, value: MARK },
    darkFile: undefined,
    dryRun: false,
  };
  await expect(callUnary(stranger, stranger.putImage, request, { deadlineMs: 5_000 })).rejects.toMatchObject({
    kind: 'unauthenticated',
  });
  stranger.close();
});

test('a sweep that its caller breaks off marks nothing, and one that ends says what it has found', async () => {
  const { big } = await images.putLogo(MARK);
  await images.breakOffSweep([{ paths: [big.path], complete: false }]);
  await expect(images.sweep([{ paths: [big.path], complete: false }])).rejects.toThrow(/cut off/);
  expect(await documents().countDocuments({ unnamedSince: { $exists: true } })).toBe(0);
  const stored = await documents().countDocuments();
  const absent = `logos/${'0'.repeat(32)}.svg`;
  const swept = await images.sweep([
    { paths: [big.path, absent], complete: false },
    { paths: [`${big.path}?size=64`], complete: true },
  ]);
  expect(swept).toEqual({ named: 1, unnamed: stored - 1, removed: 0, missing: [absent] });
  expect(await documents().countDocuments({ unnamedSince: { $exists: true } })).toBe(stored - 1);
});

test('the cache stays within its bytes while every picture is asked for', async () => {
  const { big } = await images.putLogo(MARK);
  let asked = 0;
  for (let round = 0, answered = 0; answered < 1.5 * CACHE_BYTES; round++) {
    const name = `Company ${String.fromCharCode(65 + (round % 26))} ${round}`;
    const { path } = monogramImages(monogramOf({ id: name, name }), MONOGRAM_KEY).big;
    for (const rest of ['', '?format=png', '?format=png&size=256', '?format=webp']) {
      const { response, bytes } = await fetchImage(`${path}${rest}`);
      expect(response.status).toBe(200);
      asked += 1;
      answered += bytes.length;
    }
  }
  expect((await fetchImage(big.path)).response.status).toBe(200);
  const metrics = await images.metrics();
  const gaugeOf = (name: string) => Number(new RegExp(`^${name}\\S* (\\d+)`, 'm').exec(metrics)?.[1]);
  expect(gaugeOf('images_cache_size_bytes')).toBeLessThanOrEqual(CACHE_BYTES);
  expect(gaugeOf('images_cache_entries')).toBeGreaterThan(0);
  expect(gaugeOf('images_cache_entries')).toBeLessThan(asked);
});

test('while one address floods the service with pictures that must be drawn, every picture of another address is answered', async () => {
  const { big } = await images.putLogo(MARK);
  const from = async (address: string, path: string) => {
    const ask = () => fetch(`${images.logoHost}/${path}`, { headers: { 'X-Forwarded-For': address } });
    // The service may close a connection just when it is used again.
    const response = await ask().catch(ask);
    await response.arrayBuffer();
    return response.status;
  };
  const pathOf = (id: string, number: number) => {
    const letterOf = (of: number) => String.fromCharCode(65 + (Math.floor(of) % 26));
    const name = `${letterOf(number)} ${letterOf(number / 26)}`;
    return monogramImages(monogramOf({ id: `${id} ${number}`, name }), MONOGRAM_KEY).big.path;
  };
  const seen = new Map<number, number>();
  let asked = 0;
  let isOver = false;
  const flood = Array.from({ length: 300 }, async () => {
    while (!isOver) {
      asked += 1;
      const size = SIZES[asked % SIZES.length];
      const status = await from('2001:db8::1', `${pathOf('flood', asked)}?format=webp&size=${size}`);
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
  });
  // A drawing that has begun ends with 503, too, if the machine is too busy for it, whoever asked. pictures.test.ts tests the turns.
  const answerTo = async (path: string) => {
    let status = 503;
    for (let tries = 0; tries < 5 && status === 503; tries++) status = await from('192.0.2.7', path);
    return status;
  };
  const answers: number[] = [];
  try {
    // More than the service draws at once, or keeps waiting.
    await expect.poll(() => seen.get(503) ?? 0, { timeout: 30_000 }).toBeGreaterThan(0);
    for (const size of [32, 128, 512]) {
      answers.push(await answerTo(`${big.path}?size=${size}`));
      answers.push(await answerTo(`${big.path}?size=${size}&format=png`));
      answers.push(await answerTo(`${pathOf('other', size)}?size=${size}&format=png`));
    }
  } finally {
    isOver = true;
    await Promise.allSettled(flood);
  }
  expect(answers).toEqual(answers.map(() => 200));
});

test('after a SIGKILL another process answers every image that was put, with the same bytes', async () => {
  const restarted = await startImages({ mongodbUrl: inject('mongodbUrl'), database });
  const { big, small } = await restarted.putLogo(MARK);
  const before = await Promise.all([big, small].map(async ({ path }) => (await fetchImage(path)).bytes));
  await restarted.kill();
  const again = await startImages({ mongodbUrl: inject('mongodbUrl'), database });
  for (const [index, { path }] of [big, small].entries()) {
    const response = await fetch(`${again.logoHost}/${path}`);
    expect(Buffer.from(await response.arrayBuffer()).equals(before[index] ?? Buffer.of())).toBe(true);
  }
  expect(await again.stop()).toBe(0);
});

test('the log holds no query of any URL', async () => {
  await fetchImage(`logos/${'1'.repeat(32)}.svg?token=pk_secret`);
  await fetchImage(`logos/${'1'.repeat(32)}.svg?size=64`);
  expect(images.log()).toContain('"msg":"ready"');
  expect(images.log()).not.toMatch(/pk_secret|size=64/);
  expect(await images.metrics()).not.toContain('pk_secret');
});
