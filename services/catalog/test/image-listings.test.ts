import { randomBytes } from 'node:crypto';
import { type Brand, type LogoFile, Override } from '@brand-data/contracts';
import { allOf } from '@brand-data/importers/test/all-of.ts';
import { callServerStream } from '@brand-data/runtime';
import { brandOf } from '@brand-data/testing/brand-of';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import type { CatalogDoc } from '../src/records/catalog-doc.ts';
import { imagePaths, logoFiles } from '../src/rpc/list-calls.ts';
import { OPERATOR_TOKEN, type RunningCatalog, startCatalog } from './running-catalog.ts';

let nats: TestServer;
let catalog: RunningCatalog;

beforeAll(async () => {
  nats = await startTestNats();
});
beforeEach(async () => {
  catalog = await startCatalog({
    mongodbUrl: inject('mongodbUrl'),
    natsUrl: nats.url,
    database: `test_catalog_${randomBytes(6).toString('hex')}`,
  });
  return async () => {
    await catalog.stop();
  };
});
afterAll(() => nats.stop());

async function listImagePaths(after = ''): Promise<{ paths: string[]; after: string }[]> {
  const options = { deadlineMs: 20_000, operatorToken: OPERATOR_TOKEN };
  const { admin } = catalog;
  return allOf(callServerStream(admin, admin.listImagePaths, { after }, options));
}

async function listLogoFiles(): Promise<LogoFile[]> {
  const options = { deadlineMs: 20_000, operatorToken: OPERATOR_TOKEN };
  const { admin } = catalog;
  const messages = await allOf(callServerStream(admin, admin.listLogoFiles, { after: '' }, options));
  return messages.flatMap(({ files }) => files);
}

const logo = (hash: string): Brand['images'] => ({
  logo: {
    big: { path: `logos/${hash}.svg`, format: 'svg', width: 512, height: 512, sizeKb: 1 },
    small: { path: `logos/${hash}.svg?size=64`, format: 'svg', width: 64, height: 64, sizeKb: 1 },
  },
  bannerPath: '',
  stockLogo: undefined,
  logoFile: '',
});

test('the paths of all source records are listed, also those that the record does not show, and those of overrides', async () => {
  await catalog.put('hand-written', [brandOf('acme', { images: logo('a') })]);
  await catalog.put('feed', [
    brandOf('acme', { images: { ...logo('b'), bannerPath: 'banners/b.png' } }),
    brandOf('globex', { images: logo('c') }),
    brandOf('initech'),
  ]);
  const override = (value: Parameters<typeof brandOf>[1]) =>
    Override.fromPartial({
      field: 'images.logo',
      value: brandOf('', value),
      by: 'ada',
      reason: 'the new logo',
    });
  const { results } = await catalog.operate(catalog.admin.setFields, {
    settings: [{ id: 'initech', override: override({ images: logo('d') }) }],
    dryRun: false,
  });
  expect(results).toMatchObject([{ outcome: 'FIELD_OUTCOME_CHANGED' }]);

  const messages = await listImagePaths();
  expect(messages.flatMap(({ paths }) => paths).sort()).toEqual([
    'banners/b.png',
    'logos/a.svg',
    'logos/b.svg',
    'logos/c.svg',
    'logos/d.svg',
  ]);
});

test('a stream that broke off goes on after its last message, and misses no path', async () => {
  const brands = Array.from({ length: 1_200 }, (_, index) =>
    brandOf(`company-${index}`, { images: logo(`${index}`) }),
  );
  for (let first = 0; first < brands.length; first += 400)
    await catalog.put('feed', brands.slice(first, first + 400));
  const whole = await listImagePaths();
  expect(whole.length).toBeGreaterThan(1);
  const [first] = whole;
  const rest = await listImagePaths(first?.after);
  const paths = [first, ...rest].flatMap((message) => message?.paths ?? []);
  expect(new Set(paths).size).toBe(1_200);
  expect(paths).toHaveLength(1_200);
});

test.each([
  ['ListImagePaths', imagePaths],
  ['ListLogoFiles', logoFiles],
])(
  'a stream of %s that broke off goes on near where it was, also where no company has a picture',
  async (_, list) => {
    const revision = new ObjectId();
    const bare = (id: string): CatalogDoc => ({
      _id: id,
      keys: [],
      rank: 0,
      brand: new Uint8Array(),
      contributions: [{ source: 'feed', id, importId: 'run' }],
      revision,
    });
    async function* companies() {
      for (let index = 1; index <= 25_000; index++) yield bare(`company-${index}`);
    }
    const messages = await allOf<{ after: string }>(list(companies()));
    expect(messages.map(({ after }) => after)).toEqual(['company-10000', 'company-20000']);
  },
);

test('the source records that name the file of their logo are listed', async () => {
  await catalog.put('wikidata', [
    brandOf('q1', {
      name: 'Acme',
      links: { wikidataQid: 'Q1' },
      images: { logoFile: 'Acme logo.svg' },
    }),
    brandOf('q2', { name: 'Globex', images: logo('c') }),
  ]);
  expect(await listLogoFiles()).toEqual([
    { id: 'q1', name: 'Acme', wikidataQid: 'Q1', file: 'Acme logo.svg' },
  ]);
});

test('the listings need the operator credential', async () => {
  const { admin } = catalog;
  const stream = callServerStream(admin, admin.listImagePaths, { after: '' }, { deadlineMs: 20_000 });
  await expect(stream.next()).rejects.toMatchObject({ kind: 'unauthenticated' });
});
