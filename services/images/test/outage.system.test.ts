import { monogramImages, monogramOf } from '@brand-data/monograms';
import { startTestMongod, type TestServer } from '@brand-data/testing/servers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MONOGRAM_KEY, type RunningImages, startImages } from './running-images.ts';

const MARK = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9H0z" fill="#900"/></svg>',
);

let mongod: TestServer;
let images: RunningImages;

beforeAll(async () => {
  mongod = await startTestMongod();
  images = await startImages({ mongodbUrl: mongod.url, database: 'brand_data_images' });
});
afterAll(async () => {
  await images?.stop();
  await mongod?.stop();
});

test('while the database is down, cached pictures and monograms are answered and others are 503; then all are again', async () => {
  const { big, small } = await images.putLogo(MARK);
  const statusOf = async (path: string) => (await fetch(`${images.logoHost}/${path}`)).status;
  expect(await statusOf(big.path)).toBe(200);
  await mongod.child.kill();
  await expect.poll(images.metrics).toMatch(/^mongodb_connected\S* 0$/m);
  const { path } = monogramImages(monogramOf({ id: 'acme', name: 'Acme' }), MONOGRAM_KEY).big;
  expect(await statusOf(path)).toBe(200);
  expect(await statusOf(`${path}?format=webp`)).toBe(200);
  expect(await statusOf(big.path)).toBe(200);
  expect(await images.readiness()).toBe(200);
  // Look-ups that wait for the database do not delay pictures that need none.
  const waiting = Array.from({ length: 40 }, (_, number) =>
    statusOf(`logos/${String(number).padStart(32, '0')}.svg`),
  );
  expect(await statusOf(`${path}?format=avif&size=32`)).toBe(200);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([503]));
  const refused = await fetch(`${images.logoHost}/${small.path}`);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  await expect(images.putLogo(MARK)).rejects.toMatchObject({ kind: 'unavailable' });
  await mongod.child.start();
  await expect.poll(() => statusOf(small.path)).toBe(200);
  expect((await images.putLogo(MARK)).big).toEqual(big);
});
