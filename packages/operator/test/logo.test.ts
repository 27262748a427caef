import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acme } from '@brand-data/records/test/acme.ts';
import { startTestStack, type TestStack } from '@brand-data/test/stack/index.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RanBds, runBds } from './run-bds.ts';

let stack: TestStack;
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  stack = await startTestStack({ gateways: 1, ownMongod: true });
});

afterAll(() => stack?.stop());

const bds = (...args: string[]) => runBds(stack, folder, args);

async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { out, errors } = await bds(...args, '--json');
  expect(errors).toBe('');
  return JSON.parse(out);
}

const svg = (fill: string, size = 24) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}"><circle cx="12" cy="12" r="12" fill="${fill}"/></svg>`;

async function write(name: string, content: string | Buffer): Promise<string> {
  await mkdir(join(folder, name, '..'), { recursive: true });
  await writeFile(join(folder, name), content);
  return name;
}

async function importRecords(...records: object[]): Promise<RanBds> {
  const file = await write('records.ndjson', records.map((record) => JSON.stringify(record)).join('\n'));
  return bds('import', 'records', file, '--source', 'mine', '--json');
}

/** Returns the value of a field that `bds show` shows, and its sources. */
async function shown(id: string, field: string) {
  const { record, fields } = await json('show', id);
  const value = field.split('.').reduce<unknown>((at, name) => Object(at)[name], record);
  return { value, sources: Object(fields)[`${field}.path`] ?? Object(fields)[field] };
}

const PATH = /^logos\/[0-9a-f]{32}\.svg$/;

/** Fetches what a path of a record leads to. */
const fetchImage = (path: unknown) => fetch(`${stack.images[0]?.url}/${path}`);

test('a logo that is set is measured, above all sources, and served; once it is unset, the sources decide again', async () => {
  await write('acme.svg', svg('#1d4ed8'));
  await importRecords({ ...acme, id: 'acme', images: { logo: './acme.svg' } });
  const before = await shown('acme', 'images.logo.big');
  expect(before).toMatchObject({
    value: { path: expect.stringMatching(PATH) },
    sources: [{ source: 'mine' }],
  });

  const file = await write('new.svg', svg('#b91c1c'));
  const set = await json('logo', 'set', 'acme', file);
  expect(set).toMatchObject({
    id: 'acme',
    field: 'images.logo',
    changed: true,
    path: expect.stringMatching(PATH),
    width: 512,
    height: 512,
    format: 'svg',
    light_form: 'as given',
  });
  const after = await shown('acme', 'images.logo.big');
  expect(after).toMatchObject({
    value: { path: set.path, width: 512, height: 512 },
    sources: [{ source: 'operator' }],
  });
  const small = await shown('acme', 'images.logo.small');
  expect(small.value).toMatchObject({ path: `${set.path}?size=64`, width: 64, height: 64 });
  for (const { value } of [before, after, small]) {
    const response = await fetchImage(Object(value).path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^image\/svg\+xml/);
  }
  expect((await json('logo', 'set', 'acme', file)).changed).toBe(false);

  expect(await json('logo', 'unset', 'acme')).toEqual({ id: 'acme', unset: ['images.logo'] });
  expect(await shown('acme', 'images.logo.big')).toEqual(before);
  expect(await json('logo', 'unset', 'acme')).toEqual({ id: 'acme', unset: [] });
});

test('the present logo gets another form for dark pages, and keeps the one for light pages', async () => {
  await importRecords({ ...acme, id: 'dark' });
  const none = await bds('logo', 'set', 'dark', await write('white.svg', svg('#ffffff')), '--theme', 'dark');
  expect(none).toMatchObject({
    code: 2,
    errors: expect.stringContaining('first set the form for light pages'),
  });
  const light = await json('logo', 'set', 'dark', await write('black.svg', svg('#000000')));
  const both = await json('logo', 'set', 'dark', 'white.svg', '--theme', 'dark');
  expect(both.path).toMatch(PATH);
  expect(both.path).not.toBe(light.path);
  const text = async (path: string) => (await fetchImage(path)).text();
  expect(await text(`${both.path}`)).toBe(await text(`${light.path}`));
  expect(await text(`${both.path}?theme=dark`)).toContain('#fff');
});

test('a banner, a stock logo and a manager’s logo have fields of their own', async () => {
  await importRecords(
    { ...acme, id: 'pictures' },
    { ...acme, id: 'ada', type: 'superinvestor', manager: { firm: 'Ada Capital' } },
  );
  const file = await write('picture.svg', svg('#1d4ed8'));
  const set = async (id: string, ...args: string[]) => (await json('logo', 'set', id, file, ...args)).field;
  expect(await set('pictures', '--kind', 'banner')).toBe('images.banner');
  expect(await set('pictures', '--kind', 'stock_logo')).toBe('images.stock_logo');
  expect(await set('ada')).toBe('manager.logo');
  expect((await shown('pictures', 'images.banner')).value).toMatch(/^banners\/[0-9a-f]{32}\.svg$/);
  expect((await shown('ada', 'manager.logo')).value).toMatch(PATH);
  expect(await json('logo', 'unset', 'ada')).toMatchObject({ unset: ['manager.logo'] });
});

test('a file that is no picture, too large or missing is refused with a reason, and the record stays as it was', async () => {
  await importRecords({ ...acme, id: 'refusing' });
  for (const [name, content, reason] of [
    ['text.svg', 'hello', /./],
    ['large.png', Buffer.alloc(4 * 1024 * 1024 + 1), /make it smaller/],
    ['empty.png', '', /is empty/],
  ] as const) {
    const { code, errors } = await bds('logo', 'set', 'refusing', await write(name, content));
    expect(code).toBe(1);
    expect(errors).toMatch(reason);
  }
  expect(await bds('logo', 'set', 'refusing', 'nowhere.svg')).toMatchObject({ code: 1 });
  expect(await bds('logo', 'set', 'no-such-record', 'new.svg')).toMatchObject({ code: 1 });
  expect((await shown('refusing', 'images.logo')).value).toBeUndefined();
});

test('a dry run stores nothing', async () => {
  await importRecords({ ...acme, id: 'dry' });
  const file = await write('dry.svg', svg('#047857'));
  const { path } = await json('logo', 'set', 'dry', file, '--dry-run');
  expect((await fetchImage(path)).status).toBe(404);
  expect((await shown('dry', 'images.logo')).value).toBeUndefined();
});

test('a table’s logos are files beside it; a refused one is listed, and its record is imported', async () => {
  await write('table/a.svg', svg('#1d4ed8'));
  await write('table/dark.svg', svg('#bfdbfe'));
  await write('secret.svg', svg('#000000'));
  await write(
    'table/logos.csv',
    [
      'Name,Logo,Dark,Banner',
      'Alpha,a.svg,dark.svg,',
      `Beta,"data:image/svg+xml,${encodeURIComponent(svg('#1d4ed8'))}",,./a.svg`,
      'Gamma,../secret.svg,,',
      'Delta,https://example.com/a.svg,,',
    ].join('\n'),
  );
  const map = 'Name=name,Logo=images.logo,Dark=images.logo_dark,Banner=images.banner';
  const command = ['import', 'csv', 'table/logos.csv', '--source', 'table', '--map', map];
  const { code, out, errors } = await bds(...command, '--json');
  expect(code).toBe(1);
  expect(errors).toContain('2 pictures were refused');
  expect(JSON.parse(out)).toMatchObject({
    created: 4,
    refused: 0,
    pictures: 3,
    refused_pictures: 2,
    first_refused_pictures: [
      {
        from: 'table/logos.csv:4',
        picture: 'images.logo',
        reason: expect.stringContaining('outside the folder'),
      },
      {
        from: 'table/logos.csv:5',
        picture: 'images.logo',
        reason: expect.stringContaining('fetches nothing'),
      },
    ],
  });
  expect((await shown('table-alpha', 'images.logo.big.path')).value).toMatch(PATH);
  expect((await shown('table-gamma', 'images.logo')).value).toBeUndefined();
  expect((await bds(...command)).out).toMatch(/Pictures +3, 2 refused \(table\.rejects\.ndjson\)/);
});

test('the logos of a folder go to the records that name their files, however the names are written', async () => {
  const names = ['Alpha logo.svg', 'beta_logo.svg', 'Ünïted & Sons (2020).svg', 'Missing logo.svg'];
  await importRecords(
    ...names.map((logo_file, index) => ({
      ...acme,
      id: `q${index + 1}`,
      links: { wikidata_qid: `Q${index + 1}` },
      images: { logo_file },
    })),
  );
  await write('downloads/Alpha_logo.svg', svg('#1d4ed8'));
  await write('downloads/Beta logo.svg', svg('#b91c1c'));
  await write(`downloads/deeper/${encodeURIComponent('Ünïted_&_Sons_(2020).svg')}`, svg('#047857'));
  await write('downloads/other.svg', svg('#000000'));
  const { code, out } = await bds('logo', 'import-folder', 'downloads', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    source: 'logo-files',
    read: 4,
    skipped: 1,
    pictures: 3,
    refused_pictures: 0,
    files: { missing: 1, 'not named by any record': 1 },
    missing_files: { 'Missing logo.svg': 1 },
  });
  for (const id of ['q1', 'q2', 'q3'])
    expect(await shown(id, 'images.logo.big')).toMatchObject({
      value: { path: expect.stringMatching(PATH) },
      sources: [{ source: 'logo-files', name: 'Wikimedia Commons' }],
    });
  expect((await shown('q4', 'images.logo')).value).toBeUndefined();
  expect((await json('logo', 'import-folder', 'downloads')).unchanged).toBe(3);
});

test('a sweep names every image of the catalogue, and reports paths that images does not have', async () => {
  await importRecords(
    { ...acme, id: 'sweeping', images: { logo: './acme.svg' } },
    { ...acme, id: 'elsewhere', images: { banner: 'banners/elsewhere.svg' } },
  );
  const set = await json('logo', 'set', 'sweeping', await write('set.svg', svg('#7e22ce')));
  const swept = await json('logo', 'sweep');
  expect(swept).toMatchObject({ removed: 0, missing: ['banners/elsewhere.svg'] });
  expect(swept.named).toBeGreaterThanOrEqual(2);
  await json('logo', 'unset', 'sweeping');
  expect((await json('logo', 'sweep')).unnamed).toBe(Number(swept.unnamed) + 1);
  expect((await fetchImage(set.path)).status).toBe(200);
  expect((await bds('logo', 'sweep')).out).toMatch(/^Named +\d+\nUnnamed +\d+\nRemoved +0\n/);
});
