import { extname } from 'node:path';
import { exchangeOfMic, readWebHost } from '@brand-data/identifiers';
import { loadIcons, storePicture, takePictures } from '@brand-data/importers';
import { type Connection, openConnection } from '@brand-data/operator';
import { flatRecordSchema, groupedRecordSchema } from '@brand-data/presenters';
import type { BrandRecord } from '@brand-data/records';
import fc from 'fast-check';
import Compile from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Caller, callerOf, untilAnswered } from './caller.ts';
import { forAll } from './for-all.ts';
import { TestOperator } from './operator.ts';
import { readSample } from './sample.ts';
import { type SampleStack, startSampleStack } from './sample-stack.ts';

const ICONS_TRIED = 100;
const CONTENT_TYPES: Record<string, string> = {
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
};

const records = await readSample();
const organisations = records.filter(({ type }) => type !== 'superinvestor');
const superinvestors = records.filter(({ type }) => type === 'superinvestor');
// Other icons in each run, as with properties. A failure names the icon.
const length = { minLength: ICONS_TRIED, maxLength: ICONS_TRIED };
const icons = fc.sample(fc.shuffledSubarray([...(await loadIcons()).values()], length), 1).flat();
const recordOfDescription = new Map(records.map((record) => [record.description, record]));

let stack: SampleStack;
let operator: TestOperator;
let connection: Connection;
let caller: Caller;
let token: string;

beforeAll(async () => {
  stack = await startSampleStack();
  operator = new TestOperator(stack);
  connection = openConnection(stack.operator);
  const [gateway] = stack.gateways;
  if (gateway === undefined) throw new Error('a gateway is needed');
  caller = callerOf(gateway);
  ({ token } = await operator.newAccount(1_000_000));
});

afterAll(async () => {
  operator?.close();
  connection?.close();
  await stack?.stop();
});

interface Found {
  status: number;
  match: string;
  answer: Record<string, unknown>;
}

async function read(response: Response): Promise<Found> {
  const answer = (await response.json()) as Record<string, unknown>;
  return { status: response.status, match: response.headers.get('brand-match') ?? '', answer };
}

const grouped = async (identifier: string) =>
  read(await untilAnswered(() => caller.brand(identifier, token)));
const flat = async (identifier: string) => read(await untilAnswered(() => caller.logo(identifier, token)));

/**
 * Whether an answer is of this record and shows its main listing. Name and description identify the record, because no two
 * records share both.
 */
function isOf(record: BrandRecord, { status, answer }: Found): boolean {
  return (
    status === 200 &&
    answer.name === record.name &&
    answer.description === record.description &&
    answer.symbol === record.listings?.[0]?.ticker
  );
}

/** Whether an answer is of a better known record of the sample. All records that are not of the sample are less known. */
function isOfBetterKnown(record: BrandRecord, { answer }: Found): boolean {
  const owner = recordOfDescription.get(String(answer.description));
  return owner !== undefined && (owner.rank ?? 0) > (record.rank ?? 0);
}

/** Returns one line for each identifier that finds a wrong record. `mayLose` accepts other records that rightly have the name. */
async function strays(
  identifiersOf: (record: BrandRecord) => readonly string[],
  mayLose: (record: BrandRecord, found: Found) => boolean = () => false,
): Promise<string[]> {
  const sought = records.flatMap((record) =>
    [...new Set(identifiersOf(record))].map((identifier) => ({ record, identifier })),
  );
  expect(sought.length).toBeGreaterThan(50);
  const lines = await forAll(sought, async ({ record, identifier }) => {
    const found = await grouped(identifier);
    if (isOf(record, found) || mayLose(record, found)) return [];
    const { status, match, answer } = found;
    return [`${record.id} by "${identifier}": ${status} ${answer.name ?? answer.code} (${match})`];
  });
  return lines.flat();
}

describe('a record of the sample is found', () => {
  test('by its name', async () => {
    expect(recordOfDescription.size).toBe(records.length);
    expect(await strays(({ name }) => [name])).toEqual([]);
  });

  test('by each of its other names, in any script', async () => {
    const inOtherScripts = records.flatMap(({ names = [] }) =>
      names.filter((name) => /[^\p{Script=Latin}\p{Script=Common}]/u.test(name)),
    );
    expect(inOtherScripts.length).toBeGreaterThanOrEqual(20);
    expect(await strays(({ names = [] }) => names, isOfBetterKnown)).toEqual([]);
  });

  test('by its former names, unless a better known company had the name too or another has it now', async () => {
    // Some former names end with the years in which they were used. The years are not part of the name.
    const formerNames = ({ history }: BrandRecord) =>
      (history?.formerly ?? []).map((name) => name.replace(/ \([^()]*\d{4}[^()]*\)$/, ''));
    const lost = (record: BrandRecord, found: Found) =>
      isOfBetterKnown(record, found) ||
      (found.status === 200 && /strength=(exact|legal_form)/.test(found.match));
    expect(await strays(formerNames, lost)).toEqual([]);
  });

  test('by its domains and the addresses of its websites', async () => {
    const addresses = ({ domains = [], links }: BrandRecord) => [
      ...domains,
      ...(links?.websites ?? []).flatMap((website) => [website, readWebHost(website)?.host ?? website]),
    ];
    expect(await strays(addresses, isOfBetterKnown)).toEqual([]);
  });

  test('by the tickers of its main listings, unless a better known company has the ticker too', async () => {
    const mainTickers = ({ listings = [] }: BrandRecord) =>
      listings.flatMap(({ ticker, primary }, index) => (index === 0 || primary ? [ticker] : []));
    expect(await strays(mainTickers, isOfBetterKnown)).toEqual([]);
  });

  test('by every ticker with its exchange', async () => {
    const atExchange = ({ listings = [] }: BrandRecord) =>
      listings.flatMap(({ ticker, mic }) => {
        const suffixes = exchangeOfMic(mic)?.yahoo ?? [];
        return suffixes.length === 0 ? [`${mic}:${ticker}`] : suffixes.map((suffix) => `${ticker}.${suffix}`);
      });
    expect(await strays(atExchange)).toEqual([]);
  });

  test('by the title of its icon, with that icon as its logo, unless a better known company has the name too', async () => {
    const iconOf = await loadIcons();
    const drawn = organisations.flatMap((record) => {
      // Google is a name of Alphabet, so its icon is Alphabet's.
      const icon = iconOf.get(record.id === 'alphabet' ? 'google' : record.id);
      return icon === undefined ? [] : [{ record, ...icon }];
    });
    expect(drawn.length).toBeGreaterThan(200);
    const strayed = await forAll(drawn, async ({ record, title, slug }) => {
      const found = await grouped(title);
      const logo = imagesIn(found.answer).map(({ url }) => url);
      const hasLogo = logo.includes(`${stack.logoHost}/${await storedPathOf(slug)}`);
      return (isOf(record, found) && hasLogo) || isOfBetterKnown(record, found) ? [] : [record.id];
    });
    expect(strayed.flat()).toEqual([]);
  });

  test('only on the grouped route, if it is a superinvestor', async () => {
    expect(superinvestors.length).toBeGreaterThan(0);
    const answers = await forAll(superinvestors, async ({ name }) => ({
      onGrouped: (await grouped(name)).answer.type,
      onFlat: (await flat(name)).answer.code,
    }));
    const expected = superinvestors.map(() => ({
      onGrouped: 'superinvestor',
      onFlat: 'identifier_not_found',
    }));
    expect(answers).toEqual(expected);
  });
});

describe(`the answers for the sample and for ${ICONS_TRIED} brands of Simple Icons`, () => {
  let groupedAnswers: Found[];
  let flatAnswers: Found[];
  beforeAll(async () => {
    const others = icons.map(({ title }) => title);
    groupedAnswers = await forAll([...records.map(({ name }) => name), ...others], grouped);
    flatAnswers = await forAll([...organisations.map(({ name }) => name), ...others], flat);
  });

  test.each([
    { route: 'grouped', schema: groupedRecordSchema, answers: () => groupedAnswers },
    { route: 'flat', schema: flatRecordSchema, answers: () => flatAnswers },
  ])('is a record of the $route schema', ({ schema, answers }) => {
    const validator = Compile(schema);
    const wrong = answers()
      .filter(({ answer }) => !validator.Check(answer))
      .map(({ status, answer }) => ({ status, name: answer.name, errors: validator.Errors(answer) }));
    expect(wrong).toEqual([]);
  });

  test('name images that exist and have the stated type, dimensions and size', async () => {
    const images = [...groupedAnswers, ...flatAnswers].flatMap(({ answer }) => imagesIn(answer));
    expect(new Set(images.map(({ url }) => url)).size).toBeGreaterThan(2 * ICONS_TRIED);
    const actual = await forAll(images, async ({ url, stated }) => ({
      url,
      stated: pick(await describeImage(url), Object.keys(stated)),
    }));
    expect(actual).toEqual(images);
  });
});

/** Returns the path at which images has stored an icon as a logo. */
async function storedPathOf(slug: string): Promise<string> {
  const { pictures } = takePictures({ images: { logo: `simple-icons:${slug}` } }, '');
  const value = await pictures[0]?.light.read();
  if (value === undefined) throw new Error(`${slug} is no icon`);
  const light = { $case: 'file', value } as const;
  const stored = await storePicture(
    connection.images(),
    'images.logo',
    { light, darkFile: undefined },
    { dryRun: true },
  );
  return stored.big?.path ?? '';
}

interface ImageInAnswer {
  url: string;
  /** Those of width, height, format and sizeKb that the answer states for the image. */
  stated: Record<string, unknown>;
}

/** Finds all URLs of the logo host in an answer, at every depth. With a `url` it also returns the object's other fields. */
function imagesIn(value: unknown): ImageInAnswer[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]): ImageInAnswer[] => {
    if (typeof field !== 'string') return imagesIn(field);
    if (!field.startsWith(stack.logoHost)) return [];
    const { url: _, ...stated } = name === 'url' ? (value as Record<string, unknown>) : {};
    return [{ url: field, stated }];
  });
}

/** Downloads an image and returns its real properties. Reads dimensions only from SVGs, the sample's only format. */
async function describeImage(url: string): Promise<Record<string, unknown>> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  const body = Buffer.from(await response.arrayBuffer());
  const format = extname(new URL(url).pathname).slice(1);
  const type = response.headers.get('content-type');
  if (response.status !== 200 || type !== CONTENT_TYPES[format]) {
    throw new Error(`${url} answers ${response.status}, ${type}`);
  }
  const [root = ''] = /<svg\b[^>]*>/.exec(body.toString('utf8')) ?? [];
  const side = (name: string) => Number(new RegExp(`\\s${name}="(\\d+)"`).exec(root)?.[1]);
  return {
    width: side('width'),
    height: side('height'),
    format,
    sizeKb: Math.round((body.length / 1024) * 100) / 100,
  };
}

function pick(object: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, object[name]]));
}
