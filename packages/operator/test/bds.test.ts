import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { acme } from '@brand-data/records/test/acme.ts';
import { startTestStack, type TestStack } from '@brand-data/test/stack/index.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Connection, openConnection } from '../src/index.ts';
import { runBds } from './run-bds.ts';

let stack: TestStack;
let folder: string;
let connection: Connection;

beforeAll(async () => {
  folder = await temporaryFolder();
  stack = await startTestStack({ gateways: 1 });
  connection = openConnection(stack.operator);
});

afterAll(async () => {
  connection?.close();
  await stack?.stop();
});

const bds = (args: string[], env?: NodeJS.ProcessEnv) => runBds(stack, folder, args, env);

async function json(...args: string[]): Promise<unknown> {
  const { code, out, errors } = await bds([...args, '--json']);
  expect(errors).toBe('');
  expect(code).toBe(0);
  return JSON.parse(out);
}

async function recordsFile(name: string, ...lines: (object | string)[]): Promise<string> {
  const file = join(folder, name);
  await writeFile(
    file,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  );
  return file;
}

test('an operator creates a plan, an account and a key, and then revokes and closes them', async () => {
  expect(await json('plan', 'set', 'pro', '--pool', 'calls=10000:brands,logos')).toMatchObject({
    plan: { name: 'pro', pools: [{ name: 'calls', allowance: 10_000, routes: ['brands', 'logos'] }] },
  });
  const limits = { rate: { per_second: 50, burst: 100 }, concurrency: 20 };
  const limitOptions = ['--rate', '50:100', '--concurrency', '20'];
  expect(await json('plan', 'set', 'fair', '--pool', 'calls=10:brands', ...limitOptions)).toMatchObject({
    plan: { name: 'fair', ...limits },
  });
  const { out: listed } = await bds(['plan', 'list']);
  expect(listed).toMatch(/^PLAN +POOL +CALLS A MONTH +ROUTES +LIMITS +PUBLIC\n/);
  expect(listed).toContain('50 a second, 100 at once; 20 under way');
  expect(await json('plan', 'set', 'free', '--pool', 'logos=50:logos')).toBeDefined();
  expect(await json('plan', 'list')).toMatchObject({
    plans: [{ name: 'fair', ...limits }, { name: 'free', rate: null, concurrency: null }, { name: 'pro' }],
  });
  const created = { account: { id: 'one', name: 'One', plan: 'free', state: 'active' } };
  expect(await json('account', 'create', '--id', 'one', '--name', 'One', '--plan', 'free')).toMatchObject(
    created,
  );
  expect(await json('account', 'set-plan', 'one', 'pro', '--yes')).toMatchObject({
    account: { plan: 'pro' },
  });
  const made = await json('key', 'create', 'one', '--label', 'web', '--expires', '2999-01-31');
  expect(made).toMatchObject({
    key: { label: 'web', state: 'active', expires_at: '2999-01-31T00:00:00.000Z' },
    token: expect.stringMatching(/^pk_/),
  });
  expect(await json('key', 'create', 'one', '--rate', '5')).toMatchObject({
    key: { rate: { per_second: 5, burst: 5 }, concurrency: null },
  });
  const { key } = made as { key: { id: string } };
  expect(await json('key', 'revoke', key.id, '--yes')).toMatchObject({ key: { state: 'revoked' } });
  expect(await json('account', 'show', 'one')).toMatchObject({
    keys: [{ id: key.id, state: 'revoked' }, {}],
  });
  expect(await json('usage', 'one')).toMatchObject({
    account: 'one',
    pools: [{ pool: 'calls', allowance: 10_000, used: 0, remaining: 10_000, breakdown: [] }],
  });
  expect(await json('account', 'close', 'one', '--yes')).toMatchObject({ account: { state: 'closed' } });
});

test('a token is shown when its key is created, and never again', async () => {
  await json('plan', 'set', 'pro', '--pool', 'calls=10000:brands,logos');
  await json('account', 'create', '--id', 'two', '--name', 'Two', '--plan', 'pro');
  const { out } = await bds(['key', 'create', 'two']);
  const token = /pk_\w+/.exec(out)?.[0];
  expect(token).toBeDefined();
  expect(out).toMatch(/cannot be shown again/);
  for (const args of [
    ['key', 'list', 'two'],
    ['account', 'show', 'two'],
  ]) {
    expect((await bds(args)).out).not.toContain('pk_');
    expect((await bds([...args, '--json'])).out).not.toContain('pk_');
  }
});

/** Returns the JSON documents of a file with one document a line. */
async function linesOf(name: string): Promise<unknown[]> {
  const text = await readFile(join(folder, name), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const stock = (id: string, ticker: string, name: string) => ({
  ...acme,
  id,
  name,
  type: 'stock',
  listings: [{ ticker, mic: 'XNAS' }],
});

test('records are imported from all kinds of files, and a second import changes nothing', async () => {
  await mkdir(join(folder, 'kinds', 'below'), { recursive: true });
  await recordsFile('kinds/one.json', acme);
  await recordsFile('kinds/below/list.json', JSON.stringify([{ ...acme, id: 'globex' }], null, 2));
  const lines = await recordsFile('lines.ndjson', { ...acme, id: 'initech' }, '', { ...acme, id: 'hooli' });
  const packed = join(folder, 'packed.ndjson.gz');
  await writeFile(packed, gzipSync(JSON.stringify({ ...acme, id: 'umbrella' })));
  const command = ['import', 'records', 'kinds', lines, packed, '--source', 'kinds'];
  expect(await json(...command)).toMatchObject({ source: 'kinds', read: 5, created: 5, refused: 0 });
  expect(await json(...command)).toMatchObject({ read: 5, created: 0, changed: 0, unchanged: 5 });
  expect(await json('show', 'hooli')).toMatchObject({ record: { ...acme, id: 'hooli' } });
  expect(await json('status')).toMatchObject({
    services: [{}, { service: 'catalog', answers: true }, {}, { service: 'images', answers: true }],
  });
});

test('status asks the services whose addresses are given, and says which it does not ask', async () => {
  const without = (...names: string[]) =>
    bds(['status'], Object.fromEntries(names.map((name) => [`BDS_${name.toUpperCase()}`, undefined])));
  const noImages = await without('images');
  expect(noImages).toMatchObject({ code: 0, errors: '' });
  expect(noImages.out).toMatch(/^images +not asked +no address given$/m);
  expect(noImages.out).toMatch(/^catalog +yes +\d+ records/m);
  const onlyMetering = await without('images', 'accounts', 'catalog');
  expect(onlyMetering.code).toBe(0);
  expect(onlyMetering.out.match(/not asked/g)).toHaveLength(3);
  const silent = await bds(['status', '--images', '127.0.0.1:1']);
  expect([silent.code, silent.errors]).toEqual([1, expect.stringContaining('no answer from images')]);
});

test('an import removes the rejects file of an earlier run, but never another file with its name', async () => {
  const good = await recordsFile('good.ndjson', { ...acme, id: 'good-again' });
  const bad = await recordsFile('bad-lines.ndjson', 'no JSON');
  const again = ['--source', 'again'];
  expect((await bds(['import', 'records', bad, ...again])).code).toBe(1);
  expect(await readFile(join(folder, 'again.rejects.ndjson'), 'utf8')).toContain('no JSON');
  await json('import', 'records', good, ...again);
  await expect(readFile(join(folder, 'again.rejects.ndjson'))).rejects.toThrow('ENOENT');
  await json('import', 'records', good, ...again, '--rejects', good);
  expect(await readFile(good, 'utf8')).toContain('good-again');
});

test('an import that fails in the middle reports its counts and the rejects file, and exits with 1', async () => {
  const file = await recordsFile('middle.ndjson', 'no JSON', { ...acme, id: 'middle' });
  // The file exists, but reading it fails.
  const command = ['import', 'records', file, '/proc/self/mem', '--source', 'middle'];
  const { code, out, errors } = await bds([...command, '--json']);
  expect(code).toBe(1);
  expect(errors).toMatch(/^bds: [^\n]+\n$/);
  expect(JSON.parse(out)).toMatchObject({
    failed: expect.any(String),
    read: 2,
    refused: 1,
    rejects_file: 'middle.rejects.ndjson',
  });
  expect((await bds(command)).out).toMatch(/^The import failed before its end[\s\S]*^Refused +1 \(middle/m);
});

test('half a character, which JSON can express and UTF-8 cannot, is refused with its field', async () => {
  const line = (id: string, name: string) => JSON.stringify({ ...acme, id, names: ['Acme', name] });
  const file = await recordsFile(
    'half-a-character.ndjson',
    line('half-a-character', 'A\ud800cme'),
    line('whole-character', 'NAME').replace('NAME', '\\ud83d\\ude00'),
  );
  const { code, out } = await bds(['import', 'records', file, '--source', 'halves', '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    created: 1,
    refused: 1,
    first_refusals: [{ reason: expect.stringMatching(/^names\[1\] contains an unpaired surrogate/) }],
  });
});

test('a dry run reports what would change, and writes nothing into the catalogue', async () => {
  const old = await recordsFile('dry-old.json', { ...acme, id: 'dry-old' });
  await json('import', 'records', old, '--source', 'dry');
  const file = await recordsFile(
    'dry.ndjson',
    { ...acme, id: 'dry-old', rank: 600 },
    { ...acme, id: 'dry-new' },
  );
  const dry = ['import', 'records', file, '--source', 'dry', '--dry-run', '--prune'];
  expect(await json(...dry)).toMatchObject({ dry_run: true, created: 1, changed: 1, unchanged: 0 });
  expect((await bds(['show', 'dry-new'])).code).toBe(1);
  expect(await json('show', 'dry-old')).toMatchObject({ record: { rank: 500 } });
});

test('pruning removes the records that the files no longer have, unless the files are empty', async () => {
  const both = await recordsFile('both.ndjson', { ...acme, id: 'first' }, { ...acme, id: 'second' });
  const first = await recordsFile('first.json', { ...acme, id: 'first' });
  const prune = ['--source', 'pruned', '--prune'];
  await json('import', 'records', both, '--source', 'pruned');
  expect(await json('import', 'records', first, ...prune)).toMatchObject({ pruned: 1 });
  expect(await bds(['show', 'second'])).toMatchObject({ code: 1, out: '' });
  const empty = ['import', 'records', await recordsFile('nothing.ndjson', ''), ...prune];
  const nothing = await json(...empty);
  expect(nothing).not.toHaveProperty('pruned');
  expect(nothing).toMatchObject({ not_pruned: 'nothing was read' });
  expect((await bds(empty)).out).toMatch(/^Pruned +nothing, because nothing was read$/m);
  expect(await json('show', 'first')).toBeDefined();
});

test('rows that are left out do not keep an import from pruning, but alone they prune nothing', async () => {
  const rows = ['Companies', '', 'id;name;kind', 'one;One;share', 'two;Two;share', 'Total;2;'];
  const file = await recordsFile('table.csv', `${rows.join('\n')}\n`);
  const table = ['import', 'csv', file, '--source', 'rows', '--map', 'id=id,name=name', '--prune'];
  expect(await json(...table)).toMatchObject({ created: 2, skipped: 1, pruned: 0 });
  expect(await json(...table, '--skip', 'name=two')).toMatchObject({ unchanged: 1, skipped: 2, pruned: 1 });
  const none = await json(...table, '--only', 'kind=bond');
  expect(none).toMatchObject({ skipped: 3, not_pruned: 'nothing was read' });
});

test('refused lines are written to a file with place and reason, the other lines are imported, and nothing is pruned', async () => {
  await json('import', 'records', await recordsFile('old.json', { ...acme, id: 'old' }), '--source', 'mixed');
  const shapeless = { ...acme, id: 'shapeless', rank: 'high' };
  const wrong = { ...stock('wrong', 'W', 'Wrong'), stock: { isin: 'US0378331006' } };
  const file = await recordsFile(
    'mixed.ndjson',
    { ...acme, id: 'good' },
    shapeless,
    wrong,
    '{"id": "cut off',
    { ...acme, id: 'good' },
  );
  await writeFile(file, Buffer.from('\n{"name": "M\xfcnchen"}\n', 'latin1'), { flag: 'a' });
  const whole = gzipSync(
    JSON.stringify({ ...acme, id: 'whole' }).concat('\n', Math.random().toString(36).repeat(200)),
  );
  const cut = join(folder, 'cut.ndjson.gz');
  await writeFile(cut, whole.subarray(0, -20));
  const command = ['import', 'records', file, cut, '--source', 'mixed', '--prune', '--rejects', 'bad.ndjson'];
  const { code, out, errors } = await bds([...command, '--json']);
  expect(code).toBe(1);
  expect(errors).toBe('bds: 6 of 8 records were refused (see bad.ndjson): correct them and import again\n');
  const summary = JSON.parse(out);
  expect(summary).toMatchObject({ read: 8, created: 2, refused: 6, rejects_file: 'bad.ndjson' });
  expect(summary).not.toHaveProperty('pruned');
  expect(summary).toMatchObject({ not_pruned: 'some records were refused' });
  const refused = (await linesOf('bad.ndjson')) as { from: string; reason: string; raw?: string }[];
  expect(refused.toSorted((a, b) => (a.from < b.from ? -1 : 1))).toEqual([
    {
      from: 'cut.ndjson.gz:2',
      reason: expect.stringContaining('gzip file ends too early'),
      raw: expect.any(String),
    },
    {
      from: 'mixed.ndjson:2',
      reason: expect.stringContaining('rank must be integer'),
      raw: JSON.stringify(shapeless),
    },
    { from: 'mixed.ndjson:3', reason: expect.stringContaining('stock.isin'), raw: JSON.stringify(wrong) },
    { from: 'mixed.ndjson:4', reason: expect.stringContaining('not valid JSON'), raw: '{"id": "cut off' },
    {
      from: 'mixed.ndjson:5',
      reason: expect.stringContaining('"good" occurs twice'),
      raw: expect.any(String),
    },
    { from: 'mixed.ndjson:6', reason: expect.stringContaining('not UTF-8'), raw: expect.any(String) },
  ]);
  expect(await json('show', 'old')).toBeDefined();
  expect(await json('show', 'whole')).toBeDefined();
});

test('a record that loses an identifier to another company is reported and imported', async () => {
  const famous = await recordsFile('famous.json', { ...stock('famous', 'CLSH', 'Famous'), rank: 900 });
  const small = await recordsFile('small.json', { ...stock('small', 'CLSH', 'Small Mining'), rank: 400 });
  await json('import', 'records', famous, '--source', 'one');
  const lost = { id: 'small', identifier: 'XNAS:CLSH', other_id: 'famous', other_name: 'Famous', lost: true };
  const { code, out } = await bds(['import', 'records', small, '--source', 'two', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ created: 1, lost: expect.any(Number) });
  expect(JSON.parse(out).first_conflicts).toContainEqual({ from: 'small.json:1', ...lost });
  expect(await linesOf('two.conflicts.ndjson')).toContainEqual({ from: 'small.json:1', ...lost });
  expect(await json('show', 'small')).toBeDefined();
});

test('a refused link is reported with its reason by the import, in the conflicts file and by bds show', async () => {
  const snap = { ...stock('linked', 'LNKD', 'Kestrel'), stock: { isin: 'US83304A1060' } };
  const ups = { ...stock('intruder', 'NTRD', 'Otter'), stock: { isin: 'US83304A1060' } };
  await json('import', 'records', await recordsFile('linked.json', snap), '--source', 'one');
  const refused = {
    identifiers: ['US83304A1060', '83304A106'],
    other_source: 'one',
    other_record_id: 'linked',
    other_id: 'linked',
    other_name: 'Kestrel',
    reason: 'the names differ, and no second fact agrees',
  };
  const file = await recordsFile('intruder.json', ups);
  const answer = await json('import', 'records', file, '--source', 'two');
  const line = { from: 'intruder.json:1', id: 'intruder', ...refused };
  expect(answer).toMatchObject({ created: 1, refused_links: 1, first_refused_links: [line] });
  expect(await linesOf('two.conflicts.ndjson')).toContainEqual(line);
  expect(await json('show', 'intruder')).toMatchObject({ refused_links: [{ source: 'two', ...refused }] });
  expect((await bds(['show', 'intruder'])).out).toContain(
    'Not linked (Kestrel), though both have US83304A1060, 83304A106: the names differ',
  );
});

test('a list of securities is imported by the command that is proposed if the mapping is missing', async () => {
  await writeFile(
    join(folder, 'nasdaq-2026-08-21.csv'),
    [
      'symbol,name,last sale,marketCap,country,colour',
      'GOOGX,Gloob Inc. Class A Common Stock,$10.50,66410099.00,United States,red',
      'GOOGY,Gloob Inc. Class C Capital Stock,$10.40,66410099.00,United States,red',
      'GLOOW,Gloob Inc. Warrants,$0.10,0.00,United States,red',
      '',
    ].join('\n'),
  );
  const asked = await bds(['import', 'csv', 'nasdaq-2026-08-21.csv', '--source', 'listed']);
  expect(asked).toMatchObject({ code: 2, out: '' });
  expect(asked.errors).toContain('symbol, name, last sale, marketCap, country, colour');
  expect(asked.errors).toContain('These columns give no field: colour');
  const [, command = ''] = /^ {2}bds ([\s\S]*?)\n\n/m.exec(asked.errors) ?? [];
  const args = execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' }).trimEnd();
  const { code, out } = await bds([...args.split('\n'), '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    source: 'listed',
    created: 2,
    refused: 0,
    skipped: 0,
    securities: { warrants: 1, 'further share classes': 1 },
  });
  expect(await json('resolve', 'GLOOW')).toMatchObject({
    meaning: null,
    no_company: { kind: 'warrant', name: 'Gloob Inc. Warrants' },
  });
  expect(await json('show', 'xnas-googx')).toMatchObject({
    record: {
      name: 'Gloob Inc.',
      listings: [{ ticker: 'GOOGX' }, { ticker: 'GOOGY' }],
      stock: { price: 10.5, currency: 'USD', market_cap_usd: 66_410_099 },
    },
    fields: { 'stock.market_cap_usd': [{ source: 'listed', date: '2026-08-21' }] },
  });
});

test('a mapping may be a file, and --map adds to it', async () => {
  await writeFile(join(folder, 'map.txt'), '# the columns of mine.csv\nName, legal=name\n');
  await writeFile(join(folder, 'mine.csv'), '"Name, legal",Line\nMapped Works,Machinery\n');
  const args = ['--map-file', 'map.txt', '--map', 'Line=company.industry', '--source', 'mapped'];
  expect(await json('import', 'csv', 'mine.csv', ...args)).toMatchObject({ created: 1, refused: 0 });
  expect(await json('show', 'mapped-mapped-works')).toMatchObject({
    record: { name: 'Mapped Works', company: { industry: 'Machinery' } },
  });
});

test('a table given to the import of records is refused, and the message names the command for tables', async () => {
  const { code, errors } = await bds(['import', 'records', 'nasdaq-2026-08-21.csv']);
  expect(code).toBe(2);
  expect(errors).toContain('bds import csv nasdaq-2026-08-21.csv');
});

test('any number of records of the largest size is imported', async () => {
  const line = (index: number) => ({
    ...acme,
    id: `large-${index}`,
    name: `Large ${index}`,
    offerings: { products: Array.from({ length: 14 }, () => `${index}`.padEnd(4_000, 'x')) },
  });
  const file = await recordsFile('large.ndjson', ...Array.from({ length: 150 }, (_, index) => line(index)));
  expect(await json('import', 'records', file, '--source', 'large')).toMatchObject({ created: 150 });
});

test('an import makes records from a table, and takes their prices from a second table', async () => {
  await writeFile(
    join(folder, 'companies.csv'),
    'Symbol,Company,Line,Seat\nWID,Widget Works,Machinery,"Reno, Nevada"\nGAD,Gadget Group,Electronics,"Cork, Ireland"\n',
  );
  await writeFile(
    join(folder, 'prices.csv'),
    'Symbol,Exchange,Date,Close,Change,Currency\nWID,NASDAQ,2026-01-05,110,10,USD\nGAD,NASDAQ,2026-01-05,2200,-5%,GBp\nNOT,NASDAQ,2026-01-05,5,1,USD\n'.replace(
      '-5%',
      '-100',
    ),
  );
  const map = 'Symbol=listings.ticker,Company=name,Line=company.industry,Seat=company.headquarters';
  const table = ['import', 'csv', 'companies.csv', '--map', map, '--set', 'listings.mic=XNAS'];
  expect(await json(...table, '--source', 'mine', '--date', '2026-01-01')).toMatchObject({ created: 2 });
  const quotes = ['import', 'market-data', 'prices.csv', '--usd', 'GBP=1.25', '--json'];
  const { code, out } = await bds(quotes);
  expect(code).toBe(0);
  const summary = JSON.parse(out);
  expect(summary).toMatchObject({ source: 'market-data', read: 3, changed: 2, refused: 0, skipped: 1 });
  expect(await readFile(join(folder, summary.rejects_file), 'utf8')).toMatch(
    /^\{"from":"prices.csv:4","skipped":".*NOT.*"\}\n$/,
  );
  const shown = await json('show', 'xnas-gad');
  expect(shown).toMatchObject({
    record: {
      company: { industry: 'Electronics', headquarters: { city: 'Cork', country_code: 'IE' } },
      stock: { currency: 'GBP', price: 22, price_usd: 27.5, change: -1, change_percentage: -4.348 },
    },
    fields: {
      'company.industry': [{ source: 'mine', name: 'mine', date: '2026-01-01' }],
      'stock.price': [{ source: 'market-data', date: '2026-01-05' }],
    },
  });
  expect((await bds(['show', 'xnas-gad'])).out).toMatch(/stock\.price +market-data .* 22\n/);
});

test('a dry run of market data tells what pruning would remove, whichever identifier names a row', async () => {
  const listed = (id: string, ticker: string, isin: string) => ({
    ...acme,
    id,
    name: `Listed ${id}`,
    type: 'stock',
    listings: [{ ticker, mic: 'XNAS', primary: true }],
    stock: { isin },
  });
  const file = await recordsFile(
    'listed.ndjson',
    listed('listed-a', 'LSTA', 'US0231351067'),
    listed('listed-b', 'LSTB', 'US5949181045'),
  );
  await json('import', 'records', file, '--source', 'listed');
  const quotes = ['import', 'market-data', 'listed.csv', '--source', 'listed-quotes', '--prune'];
  const rows = ['Symbol,ISIN,Close,Currency', 'LSTA,US0231351067,5,USD', 'LSTB,US5949181045,6,USD'];
  await writeFile(join(folder, 'listed.csv'), `${rows.join('\n')}\n`);
  expect(await json(...quotes)).toMatchObject({ changed: 2, pruned: 0 });
  expect(await json(...quotes, '--dry-run')).toMatchObject({ unchanged: 2, pruned: 0 });
  await writeFile(join(folder, 'listed.csv'), `${rows.slice(0, 2).join('\n')}\n`);
  expect(await json(...quotes, '--dry-run')).toMatchObject({ unchanged: 1, pruned: 1 });
  expect(await json(...quotes)).toMatchObject({ unchanged: 1, pruned: 1 });
});

test('a table with three columns makes no record worse, and show marks what no source states', async () => {
  await mkdir(join(folder, 'equities'));
  await writeFile(
    join(folder, 'equities', 'JPX.csv'),
    'symbol,name,summary,isin,shareclass_figi,market_cap,industry,website\n' +
      '7203.T,Toyota Motor Corporation,"Toyota Motor Corporation designs, makes and sells cars and spare parts.",JP3633400001,BBG001S5N8V8,Mega Cap,Auto Manufacturers,https://global.toyota/en\n',
  );
  await json('import', 'financedatabase', 'equities');
  const before = (await json('show', 'xtks-7203')) as { record: object };
  expect(before).toMatchObject({
    record: {
      type: 'stock',
      description: 'Toyota Motor Corporation designs, makes and sells cars and spare parts.',
      category: 'auto_manufacturers',
      rank: 900,
      derived_fields: ['type', 'category'],
    },
    fields: { type: [{ source: 'derived' }], description: [{ source: 'financedatabase' }] },
  });

  await writeFile(
    join(folder, 'three.csv'),
    'id,name,website\ntoyota,Toyota Motor Corporation,https://global.toyota\n',
  );
  const map = 'id=id,name=name,website=links.websites';
  for (const source of ['three', 'hand-written']) {
    const imported = await json('import', 'csv', 'three.csv', '--source', source, '--map', map);
    expect(imported).toMatchObject({ created: 0, changed: 1 });
    const after = await json('show', 'toyota');
    expect(after).toMatchObject({ record: { ...before.record, links: {}, sources: expect.anything() } });
  }
  const { out } = await bds(['show', 'toyota']);
  expect(out).toMatch(/^id +xtks-7203$/m);
  expect(out).toMatch(/^type +derived +stock$/m);
  expect(out).not.toContain('derived_fields');
  expect(await json('delete', 'toyota', '--yes')).toMatchObject({ contributions: 3 });
});

test('resolve shows the record that an identifier means, how it matched, and the other records that it could mean', async () => {
  const file = await recordsFile(
    'resolve.ndjson',
    { ...stock('phone', 'ORNG', 'Orange Phone'), rank: 700 },
    { ...acme, id: 'orange-fruit', name: 'Orng', rank: 300 },
  );
  await json('import', 'records', file, '--source', 'resolved');
  const list = await recordsFile('identifiers.txt', 'XNAS:ORNG', '', 'nobody has this', 'x'.repeat(300));
  const { code, out, errors } = await bds(['resolve', 'orng', '--file', list, '--json']);
  // One identifier that cannot be sent does not prevent the other identifiers from being resolved.
  expect(code).toBe(1);
  expect(errors).toMatch(/^bds: 1 identifier is not valid/);
  const meaning = { id: 'phone', name: 'Orange Phone', type: 'stock', rank: 700 };
  const [bare, ...others] = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(bare).toMatchObject({
    identifier: 'orng',
    meaning: { ...meaning, kind: 'ticker', strength: 'exact', value: 'ORNG' },
    others: [{ id: 'orange-fruit', kind: 'name', strength: 'exact', value: 'Orng' }],
  });
  expect(others).toEqual([
    {
      identifier: 'XNAS:ORNG',
      meaning: { ...meaning, kind: 'ticker', strength: 'exact', value: 'XNAS:ORNG' },
      others: [],
    },
    { identifier: 'nobody has this', meaning: null, others: [] },
    { identifier: 'x'.repeat(300), meaning: null, others: [], problem: expect.stringContaining('256') },
  ]);
  expect((await bds(['resolve', 'orng'])).out).toMatch(/orng +phone .*\n +or +orange-fruit /);
});

test('resolve shows which records an identifier that resolves to nothing may mean', async () => {
  const file = await recordsFile('misspelt.ndjson', {
    ...stock('quince', 'QNCE', 'Quince Works'),
    rank: 700,
  });
  await json('import', 'records', file, '--source', 'misspelt');
  // Catalog does not wait long for suggestions, which can be too late on a busy machine.
  await expect
    .poll(() => json('resolve', 'quinze works'))
    .toEqual({
      identifier: 'quinze works',
      meaning: null,
      others: [],
      suggestions: [{ name: 'Quince Works', identifier: 'QNCE' }],
    });
  await expect
    .poll(async () => (await bds(['resolve', 'quinze works'])).out)
    .toMatch(/quinze works +- +no record has it *\n +perhaps QNCE +Quince Works$/m);
});

test('a deleted record stays deleted until its source brings it again', async () => {
  const file = await recordsFile('deleted.json', { ...acme, id: 'deleted' });
  await json('import', 'records', file, '--source', 'deleted');
  expect(await json('delete', 'deleted', '--yes')).toEqual({ id: 'deleted', contributions: 1 });
  expect((await bds(['show', 'deleted'])).code).toBe(1);
  expect((await bds(['delete', 'deleted', '--yes'])).code).toBe(1);
  expect(await json('import', 'records', file, '--source', 'deleted')).toMatchObject({ created: 1 });
});

/** Many records. Another source has some of them too. */
const many = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...acme,
    id: `many-${index}`,
    name: `Many ${index}`,
    ...(index % 10 === 0 && { links: { websites: [`https://many${index}.com/`] } }),
  }));
const others = many(100).flatMap(({ links, ...record }) =>
  links === undefined ? [] : [{ ...record, id: `other-${record.id}`, links, company: { ceo: 'Ada' } }],
);

const MAKE_PIPE = 'mkfifo';

interface Piped {
  /** Writes lines, which the import then reads. */
  write(lines: readonly object[]): Promise<void>;
  end(): void;
  process: ReturnType<typeof spawn>;
  /** The exit status, or the signal. */
  ended: Promise<[number | null, string | null]>;
  out: () => string;
}

/** An import in a separate process. The test writes its lines while it runs. */
function pipedImport(source: string): Piped {
  const pipe = join(folder, `${source}.ndjson`);
  execFileSync(MAKE_PIPE, [pipe]);
  const { accounts, catalog, metering, operatorToken } = stack.operator;
  const script = join(import.meta.dirname, '..', 'bds.mjs');
  const child = spawn(process.execPath, [script, 'import', 'records', pipe, '--source', source, '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      BDS_ACCOUNTS: accounts,
      BDS_CATALOG: catalog,
      BDS_METERING: metering,
      BDS_OPERATOR_TOKEN: operatorToken,
      BDS_CERTIFICATES: join(stack.certificates, 'bds'),
    },
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const stream = createWriteStream(pipe);
  // Ignores the error of a closed pipe, because some tests end the reader.
  stream.on('error', () => {});
  return {
    process: child,
    ended: once(child, 'close') as Promise<[number | null, string | null]>,
    out: () => out,
    async write(lines) {
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      await new Promise<void>((resolve) => stream.write(text, () => resolve()));
    },
    end: () => stream.end(),
  };
}

async function sourceRecordsOf(source: string): Promise<number> {
  const { sources } = await connection.catalog().call((client) => client.getStatistics, {});
  return sources.find((each) => each.source === source)?.brands ?? 0;
}

/** Waits until the import has started and sent its first batch. On a busy machine, the start alone takes many seconds. */
async function hasImported(source: string): Promise<void> {
  await expect.poll(() => sourceRecordsOf(source), { timeout: 60_000 }).toBeGreaterThan(0);
}

/** Returns the catalogue's records with these ids, without the ids of imports. */
async function snapshot(ids: readonly string[]): Promise<unknown[]> {
  const records: unknown[] = [];
  for (let start = 0; start < ids.length; start += 100) {
    const batch = ids.slice(start, start + 100).map(async (id) => {
      const found = await connection
        .catalog()
        .call((client) => client.getBrand, { id, refusedLinks: false })
        .catch((error) => {
          if (error.kind === 'not_found') return undefined;
          throw error;
        });
      return found && { ...found, contributions: found.contributions.map(({ source }) => source) };
    });
    records.push(...(await Promise.all(batch)));
  }
  return records;
}

test('an import that is killed, and run again, gives the same catalogue as one whole run', async () => {
  const records = many(1_600);
  const ids = [...records, ...others].map(({ id }) => id);
  await json('import', 'records', await recordsFile('others.ndjson', ...others), '--source', 'others');
  const file = await recordsFile('whole.ndjson', ...records);
  const again = ['import', 'records', file, '--source', 'killed', '--prune'];

  const piped = pipedImport('killed');
  await piped.write(records.slice(0, 1_200));
  await hasImported('killed');
  piped.process.kill('SIGKILL');
  expect(await piped.ended).toEqual([null, 'SIGKILL']);
  expect(await sourceRecordsOf('killed')).toBeLessThan(records.length);

  expect(await json(...again)).toMatchObject({ read: 1_600, refused: 0, pruned: 0 });
  const afterBoth = await snapshot(ids);

  const only = await recordsFile('only.ndjson', { ...acme, id: 'only' });
  await json('import', 'records', only, '--source', 'killed', '--prune');
  expect(await sourceRecordsOf('killed')).toBe(1);
  expect(await json(...again)).toMatchObject({ read: 1_600, refused: 0, pruned: 1 });
  expect(await snapshot(ids)).toEqual(afterBoth);
});

test('Ctrl-C stops an import in order: sent batches are imported, and the exit status and the run show the stop', async () => {
  const piped = pipedImport('stopped');
  await piped.write(many(1_200).map((record) => ({ ...record, id: `stopped-${record.id}` })));
  await hasImported('stopped');
  piped.process.kill('SIGINT');
  // The import's reader waits for a line. Another line lets it notice the signal.
  await piped.write([{ ...acme, id: 'stopped-last' }]);
  piped.end();
  expect(await piped.ended).toEqual([130, null]);
  const summary = JSON.parse(piped.out());
  expect(summary.stopped).toBe(true);
  expect(summary.created + summary.changed).toBe(await sourceRecordsOf('stopped'));
  expect((await bds(['show', 'stopped-last'])).code).toBe(1);
  expect(await json('import', 'list', '--source', 'stopped')).toMatchObject({
    runs: [{ outcome: 'failed', reasons: ['the import was stopped before its end'] }],
  });
});

test('an import waits for a catalogue that stops in the middle and starts again', async () => {
  const records = many(1_500).map((record) => ({ ...record, id: `waited-${record.id}` }));
  const piped = pipedImport('waited');
  await piped.write(records.slice(0, 1_000));
  await hasImported('waited');
  await stack.kill('catalog');
  await piped.write(records.slice(1_000));
  piped.end();
  await stack.restart('catalog');
  expect(await piped.ended).toEqual([0, null]);
  expect(await sourceRecordsOf('waited')).toBe(1_500);
});

test.each([
  [['nonsense']],
  [['plan', 'set', 'pro']],
  [['plan', 'set', 'pro', '--pool', 'calls=many:brands']],
  [['plan', 'set', 'pro', '--pool', 'calls=1:images']],
  [['plan', 'set', 'pro', '--pool', 'calls=1:unknown']],
  [['key', 'create', 'one', '--expires', 'tomorrow']],
  [['usage', 'one', '--month', '2026-13']],
  [['import', 'records']],
  [['import', 'records', 'table.csv']],
  [['import', 'records', 'acme.json', '--source', 'My records']],
  [['import', 'market-data', '/no/such/file.csv', '--source', '../mine']],
  [['import', 'csv', '/no/such/file.csv', '--source', 'Not a slug', '--map', 'a=name']],
  [['import', 'csv', '/no/such/file.csv', '--source', 'operator', '--map', 'a=name']],
  [['import', 'csv', 'table.csv', '--map', 'a=name']],
  [['import', 'csv', 'table.csv', '--source', 'x', '--map', 'a=colour']],
  [['import', 'csv', 'table.csv', '--source', 'x', '--map', 'a=name', '--rank', '2000']],
  [['import', 'csv', 'table.csv', '--source', 'x', '--map', 'a=name', '--memory', '9999999']],
  [['import', 'csv', 'table.csv', '--source', 'x', '--map', 'a=name', '--join', 'b.csv']],
  [['import', 'market-data', 'quotes.csv', '--usd', 'EUR=much']],
  [['resolve']],
  [['plan', 'list', '--accounts', 'nowhere']],
  [['plan', 'list', '--operator-token', 'secret']],
])('wrong usage exits with 2 and one line: %j', async (args) => {
  const { code, out, errors } = await bds(args);
  expect(code).toBe(2);
  expect(out).toBe('');
  expect(errors.trimEnd().split('\n')).toHaveLength(1);
});

test.each([
  [['account', 'show', 'nobody'], {}],
  [['plan', 'list'], { BDS_ACCOUNTS: '127.0.0.1:1' }],
  [['plan', 'list'], { BDS_OPERATOR_TOKEN: 'not the credential' }],
  [['import', 'records', '/no/such/file.json'], {}],
  [['import', 'records', 'small.json'], { BDS_CATALOG: '127.0.0.1:1' }],
  [['import', 'market-data', '/no/such/file.csv'], {}],
  [['import', 'csv', '/no/such/file.csv', '--source', 'mine'], {}],
  [['import', 'csv', 'mine.csv', '--source', 'mine', '--map-file', '/no/such/map'], {}],
  [['resolve', '--file', '/no/such/file.txt'], {}],
])('a failure exits with 1 and one line, which never holds the credential: %j %j', async (args, env) => {
  const { code, out, errors } = await bds(args, env);
  expect(code).toBe(1);
  expect(out).toBe('');
  expect(errors).toMatch(/^bds: [^\n]+\n$/);
  for (const secret of [stack.operator.operatorToken, 'not the credential'])
    expect(errors).not.toContain(secret);
});

test('operators are created, limited by their roles, found in the trail and revoked', async () => {
  const created = await bds(['operator', 'create', 'ana', '--role', 'read']);
  expect(created.out).toMatch(
    /^Operator {4}ana\nRole {8}read\nCredential {2}opc-\w+\nSecret {6}bdsop_[\w-]{32}\n/,
  );
  const as = { BDS_OPERATOR_TOKEN: /bdsop_\S+/.exec(created.out)?.[0] ?? '' };
  expect(await bds(['plan', 'list'], as)).toMatchObject({ code: 0, errors: '' });
  expect(await bds(['plan', 'set', 'anas', '--pool', 'calls=1:brands'], as)).toEqual({
    code: 1,
    out: '',
    errors: 'bds: this needs the role keys; ana has read\n',
  });
  await bds(['plan', 'set', 'not-anas', '--pool', 'calls=1:brands']);

  const shown = await bds(['audit', '--about', 'not-anas']);
  const [heading, line = ''] = shown.out.split('\n');
  expect(heading).toMatch(/^TIME +OPERATOR +ROLE +CHANGE +OUTCOME +FROM +DETAILS$/);
  expect(line).toMatch(
    /^\d{4}-\S+Z {2}installation {2}all {3}accounts\.SetPlan {2}done {5}127\.0\.0\.1:\d+ +plan=not-anas pools="calls: 1 for brands"$/,
  );
  const { entries, more } = JSON.parse((await bds(['audit', '--about', 'ana', '--json'])).out);
  expect(more).toBe(false);
  expect(entries).toEqual([
    {
      id: expect.any(String),
      at: expect.any(String),
      operator: 'installation',
      role: 'all',
      credential: null,
      service: 'accounts',
      method: 'CreateOperator',
      outcome: 'done',
      from: expect.any(String),
      details: { credential: expect.stringMatching(/^opc-/), role: 'read' },
      request_id: expect.any(String),
    },
  ]);
  expect((await bds(['audit', '--since', '2100-01-01'])).out).toBe('There is no such change.\n');
  expect((await bds(['audit', '--limit', '1'])).out).toContain('There are earlier changes');

  expect((await bds(['operator', 'revoke', 'ana', '--yes'])).out).toMatch(/ana +read +revoked/);
  expect(await bds(['plan', 'list'], as)).toMatchObject({
    code: 1,
    errors: expect.stringContaining('the operator credential was revoked'),
  });
  const listed = JSON.parse((await bds(['operator', 'list', '--json'])).out);
  expect(listed.operators).toMatchObject([
    { name: 'ana', role: 'read', state: 'revoked', created_by: 'installation' },
  ]);
});

test('an operator works at all services with one credential, is limited by the role at each, and leaves one entry for an import', async () => {
  const credentialOf = async (role: string) => {
    const { out } = await bds(['operator', 'create', `of-${role}`, '--role', role, '--json']);
    return { BDS_OPERATOR_TOKEN: JSON.parse(out).credential };
  };
  const [read, keys, catalogue] = [
    await credentialOf('read'),
    await credentialOf('keys'),
    await credentialOf('catalogue'),
  ];
  const line = (i: number) => ({
    id: `trail-${i}`,
    name: `Trail ${i} Works`,
    sources: [{ name: 'made up' }],
  });
  await recordsFile('trail.ndjson', ...Array.from({ length: 1_200 }, (_, i) => line(i)));
  await writeFile(
    join(folder, 'trail.svg'),
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M1 1h7v7H1z"/></svg>',
  );
  const setting = ['set', 'trail-1', 'company.ceo=Eve', '--reason', 'she is'];
  const importing = ['import', 'records', 'trail.ndjson', '--source', 'trail'];

  expect(await bds([...importing, '--dry-run'], catalogue)).toMatchObject({ code: 0, errors: '' });
  expect(await bds(importing, catalogue)).toMatchObject({ code: 0, errors: '' });
  for (const [env, name] of [
    [read, 'of-read'],
    [keys, 'of-keys'],
  ] as const) {
    const refused = `this needs the role catalogue; ${name} has ${name.slice(3)}`;
    for (const args of [importing, [...setting], ['logo', 'set', 'trail-1', 'trail.svg']]) {
      const { code, errors } = await bds(args, env);
      expect([args[0], code, errors]).toEqual([args[0], 1, expect.stringContaining(refused)]);
    }
    expect((await bds(['status'], env)).code).toBe(0);
  }
  expect(await bds(setting, catalogue)).toMatchObject({ code: 0 });
  expect(await bds(['logo', 'set', 'trail-1', 'trail.svg'], catalogue)).toMatchObject({
    code: 0,
    errors: '',
  });
  expect(await bds(['delete', 'trail-2', '--yes'], catalogue)).toMatchObject({ code: 0, errors: '' });

  const trail = async () => {
    const { out, errors } = await bds(['audit', '--operator', 'of-catalogue', '--json']);
    expect(errors).toBe('');
    return (JSON.parse(out).entries as Record<string, unknown>[]).toReversed().map((entry) => ({
      change: `${entry.service}.${entry.method}`,
      outcome: entry.outcome,
      counts: entry.counts,
      details: entry.details,
    }));
  };
  await expect.poll(async () => (await trail()).length).toBe(5);
  await expect.poll(trail).toEqual([
    {
      change: 'catalog.Import',
      outcome: 'done',
      details: { source: 'trail', import: expect.any(String) },
      counts: { calls: 3, done: 3, created: 1_200, changed: 0, unchanged: 0, refused: 0 },
    },
    {
      change: 'catalog.SetFields',
      outcome: 'done',
      details: { fields: 'trail-1 company.ceo' },
      counts: { calls: 1, done: 1, fields: 1, changed: 1 },
    },
    { change: 'images.PutImage', outcome: 'done', details: {}, counts: { calls: 1, done: 1 } },
    {
      change: 'catalog.SetFields',
      outcome: 'done',
      details: { fields: expect.stringContaining('trail-1 images.logo') },
      counts: { calls: 1, done: 1, fields: expect.any(Number), changed: expect.any(Number) },
    },
    {
      change: 'catalog.DeleteBrand',
      outcome: 'done',
      details: { id: 'trail-2' },
      counts: { calls: 1, done: 1, deleted: 1 },
    },
  ]);

  await bds(['operator', 'revoke', 'of-catalogue', '--yes']);
  expect(await bds(['delete', 'trail-3', '--yes'], catalogue)).toMatchObject({
    code: 1,
    errors: expect.stringContaining('the operator credential was revoked'),
  });
  for (const name of ['accounts', 'catalog', 'metering', 'images'])
    for (const env of [read, keys, catalogue])
      expect(await stack.logs(name)).not.toContain(env.BDS_OPERATOR_TOKEN.slice(8));
});

test('help exits with 0', async () => {
  expect(await bds(['--help'])).toMatchObject({ code: 0, errors: '' });
  for (const kind of [
    'records',
    'csv',
    'market-data',
    'simple-icons',
    'iconify',
    'financedatabase',
    'wikidata',
  ])
    expect(await bds(['import', kind, '--help'])).toMatchObject({ code: 0, errors: '' });
});
