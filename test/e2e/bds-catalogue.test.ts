import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { CatalogDoc } from '@brand-data/catalog/src/records/catalog-doc.ts';
import {
  OPERATOR_TOKEN,
  type RunningCatalog,
  startCatalog,
  stockOf,
} from '@brand-data/catalog/test/running-catalog.ts';
import { SOURCES, someBrand } from '@brand-data/catalog/test/some-records.ts';
import { Brand } from '@brand-data/contracts';
import { main } from '@brand-data/operator';
import type { Streams } from '@brand-data/operator/src/terminal/output.ts';
import { brandOfField, recordFromBrand } from '@brand-data/records';
import { brandOf } from '@brand-data/testing/brand-of';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import fc from 'fast-check';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';

const NAMES = ['here', 'there'] as const;
type Name = (typeof NAMES)[number];

const databases = `catalogue_${randomBytes(6).toString('hex')}`;
let nats: TestServer;
let folder: string;
let mongo: MongoClient;
const catalogs = new Map<Name, RunningCatalog>();

beforeAll(async () => {
  folder = await temporaryFolder();
  mongo = await new MongoClient(inject('mongodbUrl')).connect();
  nats = await startTestNats();
  for (const name of NAMES) {
    const settings = {
      mongodbUrl: inject('mongodbUrl'),
      natsUrl: nats.url,
      database: `${databases}_${name}`,
    };
    catalogs.set(name, await startCatalog(settings));
  }
});

afterAll(async () => {
  await Promise.all([...catalogs.values()].map((catalog) => catalog.stop()));
  for (const name of NAMES) await database(name).dropDatabase();
  await mongo?.close();
  await nats?.stop();
});

const database = (name: Name) => mongo.db(`${databases}_${name}`);
const brands = (name: Name) => database(name).collection<CatalogDoc>('brands');

function catalog(name: Name): RunningCatalog {
  const found = catalogs.get(name);
  if (found === undefined) throw new Error(`${name} does not run`);
  return found;
}

/** Removes all companies. A catalog never forgets the names of sources. */
async function empty(...names: Name[]): Promise<void> {
  for (const name of names) await brands(name).deleteMany({});
}

async function bds(name: Name, ...args: string[]) {
  const ran = { code: 0, out: '', errors: '' };
  const stdout = { write: (text: string) => (ran.out += text) };
  ran.code = await run(name, args, stdout, { write: (text: string) => (ran.errors += text) });
  return ran;
}

function run(
  name: Name,
  args: readonly string[],
  stdout: Streams['stdout'],
  stderr: Streams['stderr'] = { write: () => true },
): Promise<number> {
  return main(args, {
    env: {
      BDS_CATALOG: catalog(name).adminTarget,
      BDS_OPERATOR_TOKEN: OPERATOR_TOKEN,
      BDS_CERTIFICATES: join(inject('certificates'), 'bds'),
    },
    cwd: folder,
    stdout,
    stderr,
  });
}

async function json(name: Name, ...args: string[]) {
  const { code, out, errors } = await bds(name, ...args, '--json');
  expect([code, errors]).toEqual([0, '']);
  return JSON.parse(out);
}

async function exported(name: Name): Promise<string> {
  const { code, out, errors } = await bds(name, 'catalogue', 'export');
  expect([code, errors]).toEqual([0, '']);
  return out;
}

async function restored(text: string | Buffer, ...options: string[]) {
  const file = join(folder, 'restored.ndjson');
  await writeFile(file, text);
  return bds('there', 'catalogue', 'restore', 'restored.ndjson', ...options);
}

/** Returns the documents without what each write makes anew, and without empty groups, which records do not have. */
const documents = async (name: Name) => {
  const docs = await brands(name)
    .find({}, { sort: { _id: 1 }, promoteBuffers: true })
    .toArray();
  return docs.map(({ revision, parts, brand, ...doc }) => {
    return { ...doc, hasParts: parts !== undefined, record: recordFromBrand(Brand.decode(brand)) };
  });
};

type Step = (catalog: RunningCatalog) => Promise<unknown>;
let imports = 0;
/** Ids of imports sort by time. */
const nextImport = () => `2026-11-20T00:00:${String(imports++).padStart(6, '0')}Z-test`;

const someIds = ['acme', 'globex', 'q1', 'q2', 'x1', 'feed--acme'];
const someSettings = [
  ['company.ceo', 'Ada \u202e Lovelace'],
  ['names', ['Acme\u2028Works', 'Ацме']],
  ['rank', 0],
  ['links.websites', null],
  ['company.headquarters', { city: 'Berlin' }],
  ['type', 'brand'],
] as const;

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...SOURCES),
        fc.uniqueArray(someBrand, { maxLength: 4, selector: ({ id }) => id }),
        fc.boolean(),
      )
      .map(
        ([source, some, prune]): Step =>
          async ({ put, operate, admin }) => {
            const importId = nextImport();
            await put(source, some, importId);
            await operate(admin.finishImport, { source, importId, prune });
          },
      ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom(...someIds), fc.constantFrom(...someSettings)).map(
      ([id, [field, value]]): Step =>
        async ({ operate, admin }) => {
          const made = value === null ? { brand: undefined } : brandOfField(field, value);
          if ('problem' in made) throw new Error(made.problem);
          const override = { field, value: made.brand, by: 'ada', reason: 'Why not? "…"', atMs: 0 };
          await operate(admin.setFields, { settings: [{ id, override }], dryRun: false });
        },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom('ACME', 'GLBX'), fc.double({ min: 0, max: 1e6, noNaN: true })).map(
      ([symbol, price]): Step =>
        ({ quote }) =>
          quote('market-data', [{ symbol, stock: { currency: 'USD', price } as never }], nextImport()),
    ),
  },
);

describe('an export of the catalogue', () => {
  test('is restored into an empty catalogue, whose export has the same bytes and which is equal, whatever its history', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 7 }), async (steps) => {
        await empty('here', 'there');
        for (const take of steps) await take(catalog('here'));
        const text = await exported('here');
        const { code, errors } = await restored(text);
        expect([code, errors]).toEqual([0, '']);
        expect(await exported('there')).toBe(text);
        expect(await documents('there')).toEqual(await documents('here'));
      }),
      { numRuns: 15 },
    );
  });

  test('changes only in the lines of companies that have changed, if all sources are imported again', async () => {
    await empty('here');
    const import_ = async (some: Brand[]) => {
      const importId = nextImport();
      await catalog('here').put('feed', some, importId);
      await catalog('here').operate(catalog('here').admin.finishImport, {
        source: 'feed',
        importId,
        prune: true,
      });
    };
    await import_([stockOf('a', 'A@XNAS'), stockOf('b', 'B@XNAS'), stockOf('c', 'C@XNAS')]);
    const before = (await exported('here')).split('\n');
    await import_([stockOf('a', 'A@XNAS'), stockOf('b', 'B@XNAS', { rank: 600 }), stockOf('c', 'C@XNAS')]);
    const after = (await exported('here')).split('\n');
    const changed = after.filter((line) => !before.includes(line));
    expect(changed.map((line) => JSON.parse(line).id ?? 'first line')).toEqual(['first line', 'b']);
  });

  test('in a file appears only when it is whole', async () => {
    await empty('here');
    await catalog('here').put('feed', [stockOf('a', 'A@XNAS')], nextImport());
    const out = join(folder, 'whole.ndjson');
    expect(await json('here', 'catalogue', 'export', '--out', 'whole.ndjson')).toEqual({
      file: 'whole.ndjson',
      companies: 1,
    });
    expect(await readFile(out, 'utf8')).toBe(await exported('here'));
    const failed = await bds('here', 'catalogue', 'export', '--out', 'no-such-folder/x.ndjson');
    expect(failed.code).toBe(1);
  });
});

test('an export goes on only as fast as it is read, so that a large catalogue is never kept in memory', async () => {
  await empty('here');
  await catalog('here').put('feed', [stockOf('a', 'A@XNAS')], nextImport());
  const whole = await exported('here');
  let written = '';
  let early = 0;
  let isFull = false;
  let read: (() => void) | undefined;
  const stdout = {
    write(text: string) {
      if (isFull) early++;
      isFull = true;
      written += text;
      return false;
    },
    once(_event: 'drain', listener: () => void) {
      read = listener;
    },
  };
  let code: number | undefined;
  const ended = run('here', ['catalogue', 'export'], stdout).then((status) => {
    code = status;
  });
  await expect
    .poll(
      () => {
        const listener = read;
        read = undefined;
        if (listener) isFull = false;
        listener?.();
        return code;
      },
      { timeout: 30_000 },
    )
    .toBe(0);
  await ended;
  expect([early, written]).toEqual([0, whole]);
});

describe('a restore', () => {
  let text: string;

  beforeEach(async () => {
    await empty('here', 'there');
    const some = ['a', 'b', 'c'].map((id) => stockOf(id, `${id.toUpperCase()}@XNAS`));
    await catalog('here').put('feed', some, nextImport());
    text = await exported('here');
  });

  test('may be repeated, also if it broke off in the middle, and reads compressed files', async () => {
    expect((await restored(gzipSync(text))).code).toBe(0);
    await brands('there').deleteOne({ _id: 'b' });
    const { out } = await restored(text, '--json');
    expect(JSON.parse(out)).toMatchObject({ restored: 1, unchanged: 2, refused: 0 });
    expect(await exported('there')).toBe(text);
  });

  test('is found by look-ups', async () => {
    await restored(text);
    const [found] = await catalog('there').lookup('XNAS:B');
    expect(found?.brand?.id).toBe('b');
  });

  test.each([
    ['has another company between', stockOf('bb', 'BB@XNAS')],
    ['has another company after the last one', stockOf('z', 'Z@XNAS')],
    ['has a company in another form', stockOf('b', 'B@XNAS', { rank: 600 })],
  ])('writes nothing into a catalogue that %s', async (_what, other) => {
    await catalog('there').put('feed', [other], nextImport());
    const before = await documents('there');
    const { code, errors } = await restored(text);
    expect([code, errors]).toEqual([1, expect.stringMatching(/restore into an empty catalogue/)]);
    expect(await documents('there')).toEqual(before);
  });

  test('writes nothing of a file that is not whole, or that is no export', async () => {
    const lines = text.trimEnd().split('\n');
    for (const part of [
      lines.slice(0, -1),
      lines.slice(1),
      [...lines.slice(0, 2), ...lines.slice(3)],
      [...lines, lines[1]],
    ])
      expect(await restored(part.join('\n'))).toMatchObject({ code: 2 });
    expect(await documents('there')).toEqual([]);
  });

  test('writes nothing if the catalogue would refuse a company, and names its line and its problem', async () => {
    const { code, out, errors } = await restored(text.replace('"XNAS"', '"NASDAQ"'));
    expect([code, out]).toEqual([1, expect.stringMatching(/restored\.ndjson:2: .*mic/)]);
    expect(errors).toMatch(/nothing was restored/);
    expect(await documents('there')).toEqual([]);
  });

  test('with --dry-run writes nothing', async () => {
    const { code, out } = await restored(text, '--dry-run', '--json');
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ dry_run: true, restored: 3 })]);
    expect(await documents('there')).toEqual([]);
  });
});

describe('the list of records', () => {
  beforeAll(async () => {
    await empty('here');
    await catalog('here').put('feed', [
      stockOf('acme', 'ACME@XNAS', { name: 'Acme', stock: { isin: 'US0378331005', price: 5 } }),
      brandOf('globex', {
        name: 'Globex',
        links: { websites: ['https://www.globex.com/', 'https://globex.internal/'] },
      }),
      brandOf('initech', { name: 'Initech, Inc.' }),
    ]);
    await catalog('here').put('crm', [brandOf('hooli', { name: 'Hooli', company: { ceo: 'Gavin' } })]);
  });

  const ids = async (...options: string[]) => {
    const { records } = await json('here', 'catalogue', 'list', ...options);
    return records.map(({ id }: { id: string }) => id);
  };

  test('shows type, identifiers, sources and the time of the last change of each record, by id', async () => {
    const { records } = await json('here', 'catalogue', 'list');
    expect(records).toMatchObject([
      { id: 'acme', type: 'stock', identifiers: ['XNAS:ACME', 'US0378331005'], sources: ['feed'] },
      { id: 'globex', type: 'brand', identifiers: ['globex.com'] },
      { id: 'hooli', sources: ['crm'] },
      { id: 'initech' },
    ]);
    for (const { changed_at } of records)
      expect(Date.parse(changed_at)).toBeGreaterThan(Date.now() - 600_000);
    expect((await bds('here', 'catalogue', 'list')).out).toMatch(
      /^acme +\S+ +stock +XNAS:ACME US0378331005 +feed/m,
    );
  });

  test('shows only identifiers that find their record', async () => {
    const { records } = await json('here', 'catalogue', 'list');
    const all = records.flatMap(({ identifiers }: { identifiers: string[] }) => identifiers);
    expect(all).toHaveLength(3);
    expect(await bds('here', 'resolve', ...all)).toMatchObject({ code: 0 });
  });

  test('has exactly the records that fit all filters', async () => {
    expect(await ids('--type', 'stock')).toEqual(['acme']);
    expect(await ids('--source', 'crm')).toEqual(['hooli']);
    expect(await ids('--search', 'GLO')).toEqual(['globex']);
    expect(await ids('--lacks', 'company.ceo')).toEqual(['acme', 'globex', 'initech']);
    expect(await ids('--lacks', 'links.websites,company.ceo')).toEqual([
      'acme',
      'globex',
      'hooli',
      'initech',
    ]);
    expect(await ids('--lacks', 'company.ceo', '--source', 'crm')).toEqual([]);
  });

  test('continues on the next page where the last one ended, whatever the size of the pages', async () => {
    for (const limit of ['1', '2', '3', '4']) {
      const listed: string[] = [];
      let next: string | null = '';
      do {
        const page: { records: { id: string }[]; next: string | null } = await json(
          ...(['here', 'catalogue', 'list', '--limit', limit, '--after', next] as const),
        );
        listed.push(...page.records.map(({ id }) => id));
        next = page.next;
      } while (next !== null);
      expect(listed).toEqual(['acme', 'globex', 'hooli', 'initech']);
    }
  });

  test('is CSV with one line for each record', async () => {
    const lines = (await bds('here', 'catalogue', 'list', '--csv')).out.trimEnd().split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[0]).toBe('id,name,type,rank,identifiers,sources,changed_at');
    expect(lines[4]).toMatch(/^initech,"Initech, Inc\.",brand,/);
  });

  test('an import that changes nothing leaves the time of the last change', async () => {
    const timeOf = async () =>
      (await json('here', 'catalogue', 'list', '--search', 'hooli')).records[0].changed_at;
    const before = await timeOf();
    const again = [brandOf('hooli', { name: 'Hooli', company: { ceo: 'Gavin' } })];
    await catalog('here').put('crm', again, nextImport());
    expect(await timeOf()).toBe(before);
    await catalog('here').put(
      'crm',
      [brandOf('hooli', { name: 'Hooli', company: { ceo: 'Barker' } })],
      nextImport(),
    );
    expect(Date.parse(await timeOf())).toBeGreaterThan(Date.parse(before));
  });

  test('the statistics count the records by type, source and field, and say how old the newest import is', async () => {
    const importId = new Date(Date.now() - 3_600_000).toISOString();
    await catalog('here').operate(catalog('here').admin.finishImport, {
      source: 'crm',
      importId,
      prune: false,
    });
    const stats = await json('here', 'catalogue', 'stats');
    expect(stats).toMatchObject({ records: 4, types: { stock: 1, brand: 3 } });
    expect(stats.fields).toContainEqual({ field: 'company.ceo', has: 1, of: 4 });
    expect(stats.fields).toContainEqual({ field: 'stock.price', has: 1, of: 1 });
    expect(stats.bytes.all).toBeGreaterThan(stats.bytes.largest.bytes);
    const crm = stats.sources.find(({ source }: { source: string }) => source === 'crm');
    expect(crm).toMatchObject({ records: 1, newest_import: expect.any(String), facts: expect.any(Array) });
    const { out } = await bds('here', 'catalogue', 'stats', '--field', 'company.ceo');
    expect(out).toMatch(/^company\.ceo +1 +4 +25\.0 %$/m);
  });
});
