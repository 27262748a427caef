import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadIcons, takePictures } from '@brand-data/importers';
import { BrandRecord, brandFromRecord, problemsOf, readRecord } from '@brand-data/records';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '..', 'catalogue');

const files = await Promise.all(
  (await readdir(FOLDER))
    .filter((name) => name.endsWith('.json'))
    .map(async (name) => ({
      name,
      ...takePictures(JSON.parse(await readFile(join(FOLDER, name), 'utf8')), FOLDER),
    })),
);
const records = files.flatMap(({ value }) => {
  const read = readRecord(value);
  return 'record' in read ? [read.record] : [];
});
const organisations = records.filter(({ type }) => type !== 'superinvestor');

/** Fields of the grouped record for which the sample has no data. */
const UNFILLED: Record<string, string> = {
  'stock.range': 'the sample has one close of each share, not a year of them',
  'stock.percent_from_52_week_low': 'the sample has one close of each share, not a year of them',
  'manager.logo': 'no freely licensed pictures of managers or their firms are at hand',
};

/** Fields that this test does not check: those that serve only look-up or provenance, and pictures. */
const NOT_IN_ANSWERS =
  /^(id|rank|names|domains|lei|sources|derived_fields|has_namesakes|listings|images|stock\.exchange_logo)(\.|$)/;

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
}

function leavesOf(schema: Schema, path = ''): string[] {
  if (schema.items !== undefined) return leavesOf(schema.items, path);
  if (schema.properties === undefined) return [path];
  return Object.entries(schema.properties).flatMap(([name, field]) =>
    leavesOf(field, path === '' ? name : `${path}.${name}`),
  );
}

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((found, name) => {
    const one: unknown = Array.isArray(found) ? found[0] : found;
    return Object(one)[name];
  }, value);
}

test.each(files)('$name is a valid record, and its file has the name of its id', ({ name, value }) => {
  const read = readRecord(value);
  expect(read).not.toHaveProperty('problems');
  if (!('record' in read)) return;
  expect(problemsOf(brandFromRecord(read.record))).toEqual([]);
  expect(name).toBe(`${read.record.id}.json`);
});

test.each(records)(
  '$id names its sources, each with the URL and the date at which its facts were true',
  ({ sources }) => {
    for (const source of sources)
      expect(source).toMatchObject({ url: expect.any(String), date: expect.any(String) });
  },
);

/** Fields that age, and the precision that the date of their source must have: a year or a day. */
const AGEING: Record<string, RegExp> = {
  'company.ceo': /^\d{4}-\d{2}-\d{2}$/,
  'company.key_people': /^\d{4}-\d{2}-\d{2}$/,
  'company.employees': /^\d{4}/,
  'company.number_of_locations': /^\d{4}/,
  'transport.fleet_size': /^\d{4}/,
  'stock.price': /^\d{4}-\d{2}-\d{2}$/,
  'stock.market_cap_usd': /^\d{4}-\d{2}-\d{2}$/,
};

test.each(Object.entries(AGEING))(
  'every record with %s has a source that dates this field',
  (field, precision) => {
    const undated = records.filter(
      (record) =>
        valueAt(record, field) !== undefined &&
        !record.sources.some(({ fields, date = '' }) => fields?.includes(field) && precision.test(date)),
    );
    expect(undated.map(({ id }) => id)).toEqual([]);
  },
);

test('the sample has at least 120 organisations', () => {
  expect(organisations.length).toBeGreaterThanOrEqual(120);
});

test.each(leavesOf(BrandRecord as Schema).filter((path) => !NOT_IN_ANSWERS.test(path)))(
  'three records or more have %s, unless the list says why not',
  (path) => {
    const filled = records.filter((record) => valueAt(record, path) !== undefined);
    if (path in UNFILLED) expect(filled).toEqual([]);
    else expect(filled.length).toBeGreaterThanOrEqual(3);
  },
);

test('every picture of the sample can be read', async () => {
  const pictures = files.flatMap(({ name, pictures }) => pictures.map((picture) => ({ name, ...picture })));
  for (const { name, light } of pictures)
    await expect(light.read(), name).resolves.toSatisfy((bytes: Buffer) => bytes.includes('<svg'));
  expect(pictures.filter(({ field }) => field === 'images.banner')).toHaveLength(3);
});

test('fewer than a quarter of the records show a monogram', () => {
  const withLogo = files.filter(({ pictures }) => pictures.some(({ field }) => field === 'images.logo'));
  expect(withLogo.length / files.length).toBeGreaterThan(0.75);
});

test('every listed company has the mark of its exchange, and the mark says that it is a drawing of the sample', async () => {
  const marks = files.flatMap(({ pictures }) =>
    pictures.filter(({ field }) => field === 'stock.exchange_logo'),
  );
  expect(marks.length).toBe(records.filter(({ stock }) => stock !== undefined).length);
  for (const { light } of marks)
    expect(String(await light.read())).toMatch(/<title>[A-Z0-9]+, drawn for the sample catalogue<\/title>/);
});

test('no record says only that a company is a brand', () => {
  const bare = records.filter(
    ({ name, description }) =>
      description?.startsWith(`${name} is a brand`) && !/ of | by | for /.test(description),
  );
  expect(bare.map(({ id }) => id)).toEqual([]);
});

test('every organisation that has an icon has it as its logo, and a listed one also as its stock logo', async () => {
  const icons = await loadIcons();
  const fieldsOf = new Map(
    files.map(({ name, pictures }) => [name.replace('.json', ''), pictures.map(({ field }) => field)]),
  );
  for (const { id, listings } of organisations) {
    const fields = fieldsOf.get(id) ?? [];
    if (icons.has(id)) expect(fields, id).toContain('images.logo');
    if (fields.includes('images.logo'))
      expect(fields.includes('images.stock_logo'), id).toBe(listings !== undefined);
  }
});

/**
 * Companies whose icon has another slug than their id. We compared all records with all icons by hand. The icon has the name of the
 * company, a former name, or that of a brand whose mark the company uses as its own.
 */
const UNDER_ANOTHER_NAME: Record<string, string> = {
  alphabet: 'Google',
  'alibaba-group': 'Alibaba.com',
  block: 'Square',
  'booking-holdings': 'Booking.com',
  'jpmorgan-chase': 'Chase',
  'tata-consultancy-services': 'Tata Consultancy Services',
};

test('a logo is the icon with the slug of the record’s id, or one of the list', async () => {
  const titles = await Promise.all(
    files.map(async ({ name, pictures }) => {
      const logo = pictures.find(({ field }) => field === 'images.logo');
      const title = /<title>(.*)<\/title>/.exec(String(await logo?.light.read()))?.[1];
      return [name.replace('.json', ''), title] as const;
    }),
  );
  const icons = await loadIcons();
  const others = titles.filter(([id, title]) => title !== undefined && !icons.has(id));
  expect(Object.fromEntries(others)).toEqual(UNDER_ANOTHER_NAME);
});

test('no two companies share a main listing', () => {
  const mains = records.flatMap(({ listings = [] }) =>
    listings.slice(0, 1).map(({ mic, ticker }) => `${mic}:${ticker}`),
  );
  expect(mains).toEqual([...new Set(mains)]);
});
