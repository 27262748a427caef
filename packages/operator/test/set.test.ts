import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acme } from '@brand-data/records/test/acme.ts';
import { startTestStack, type TestStack } from '@brand-data/test/stack/index.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runBds } from './run-bds.ts';

let stack: TestStack;
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  stack = await startTestStack({ gateways: 1, replicas: { images: 0 } });
});

afterAll(() => stack?.stop());

const bds = (...args: string[]) => runBds(stack, folder, args);

async function json(...args: string[]): Promise<unknown> {
  const { code, out, errors } = await bds(...args, '--json');
  expect(errors).toBe('');
  expect(code).toBe(0);
  return JSON.parse(out);
}

async function file(name: string, ...lines: (object | string)[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(
    path,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  );
  return path;
}

/** Imports records of one source, and prunes that source's other records. */
async function bring(source: string, ...records: object[]): Promise<void> {
  const path = await file(`${source}.ndjson`, ...records);
  await json('import', 'records', path, '--source', source, '--prune');
}

const shown = async (id: string) =>
  (await json('show', id)) as {
    record: { description: string; links?: object; company?: { ceo?: string } };
    fields: Record<string, object[]>;
    overrides: object[];
  };

test('a field that is set stays over every import, is shown with who, when and why, and goes back when it is unset', async () => {
  const of = (ceo: string) => ({ ...acme, id: 'kept', name: 'Kept', company: { ceo } });
  await bring('kept-feed', of('Grace'));
  const before = await shown('kept');
  expect(await json('set', 'kept', 'company.ceo=Ada', '--reason', 'Named in May.', '--by', 'Alan')).toEqual({
    id: 'kept',
    fields: ['company.ceo'],
    dry_run: false,
    changed: 1,
    unchanged: 0,
  });
  for (const source of ['kept-feed', 'hand-written', 'wikidata']) {
    await bring(source, of(`of ${source}`));
    const { record, fields, overrides } = await shown('kept');
    expect(record.company?.ceo).toBe('Ada');
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(overrides).toEqual([
      { field: 'company.ceo', value: 'Ada', by: 'Alan', at, reason: 'Named in May.' },
    ]);
    expect(fields['company.ceo']).toMatchObject([{ source: 'operator', name: 'Alan' }]);
  }
  const { out } = await bds('show', 'kept');
  expect(out).toMatch(/company\.ceo +operator +Alan .* Ada\n/);
  expect(out).toMatch(/company\.ceo +Ada +Alan +\d{4}-\S+ +Named in May\./);
  for (const source of ['hand-written', 'wikidata'])
    await bring(source, { ...acme, id: `other-${source}`, name: `Other ${source}` });
  await bring('kept-feed', of('Grace'));
  expect((await shown('kept')).record.company?.ceo).toBe('Ada');
  expect(await json('unset', 'kept', 'company.ceo')).toMatchObject({ unset: ['company.ceo'], not_set: [] });
  expect(await shown('kept')).toMatchObject({ record: before.record, fields: before.fields, overrides: [] });
  expect(await json('unset', 'kept', 'company.ceo')).toMatchObject({ unset: [], not_set: ['company.ceo'] });
});

test('a record that is suppressed stays away over every import and in exports, is shown with who, when and why, and comes back', async () => {
  const listings = [{ ticker: 'AWY', mic: 'XNAS' }];
  const of = (name: string) => ({ ...acme, id: 'away', name, type: 'stock', listings });
  const meaning = async () => ((await json('resolve', 'AWY')) as { meaning: object | null }).meaning;
  const listed = () => json('catalogue', 'list', '--search', 'away');
  await bring('away-feed', of('Away'));
  const before = await shown('away');
  expect(await meaning()).toMatchObject({ id: 'away' });
  const asked = ['suppress', 'away', '--reason', 'They asked for it.', '--by', 'Alan'];
  expect(await json(...asked, '--dry-run')).toMatchObject({ dry_run: true, changed: 1 });
  expect(await meaning()).toMatchObject({ id: 'away' });
  expect(await json(...asked)).toEqual({ ids: ['away'], dry_run: false, changed: 1, unchanged: 0 });
  const said = { by: 'Alan', at: expect.stringMatching(/^20/), reason: 'They asked for it.' };
  for (const source of ['away-feed', 'wikidata']) {
    await bring(source, of('Away Inc.'));
    expect(await meaning()).toBeNull();
    expect(await listed()).toMatchObject({ records: [] });
    expect(await shown('away')).toMatchObject({ suppressed: said, overrides: [] });
  }
  expect((await bds('show', 'away')).out).toMatch(/^Suppressed by Alan at \S+: They asked for it\.\n/);
  expect((await bds('suppress', '--list')).out).toMatch(/away +Alan +\S+ +They asked for it\./);
  expect((await bds('set', '--list')).out).not.toContain('away');
  await json('catalogue', 'export', '--out', 'away.ndjson');
  expect(await json('catalogue', 'restore', 'away.ndjson', '--dry-run')).toMatchObject({
    restored: 0,
    refused: 0,
  });
  await bring('wikidata', { ...acme, id: 'other-away', name: 'Other' });
  await bring('away-feed', of('Away'));
  expect(await json('unsuppress', 'away')).toMatchObject({ unsuppressed: ['away'], not_suppressed: [] });
  expect(await json('unsuppress', 'away')).toMatchObject({ unsuppressed: [], not_suppressed: ['away'] });
  expect(await meaning()).toMatchObject({ id: 'away' });
  expect(await shown('away')).toEqual({ ...before, contributions: expect.anything() });
});

test('records that are joined stay one company over every import, and a separated one stays apart, until that is taken back', async () => {
  const one = { ...acme, id: 'one', name: 'Initech' };
  const two = {
    ...acme,
    id: 'two',
    name: 'Initech Laboratories',
    links: { websites: ['https://initech-labs.com/'] },
  };
  const sources = async (id: string) =>
    (
      (await json('show', id)) as { record: { id: string }; contributions: { source: string }[] }
    ).contributions
      .map(({ source }) => source)
      .sort();
  await bring('one-feed', one);
  await bring('two-feed', two);
  const words = ['--reason', 'The same firm.', '--by', 'Alan'];
  expect(await json('join', 'one', 'two', ...words, '--dry-run')).toMatchObject({
    dry_run: true,
    changed: true,
  });
  expect(await sources('one')).toEqual(['one-feed']);
  expect(await json('join', 'one', 'two', ...words)).toMatchObject({ changed: true });
  expect(await json('join', 'two', 'one', ...words)).toMatchObject({ changed: false });
  for (const [source, record] of [
    ['one-feed', one],
    ['two-feed', two],
  ] as const) {
    await bring(source, { ...record, description: 'Changed.' });
    expect(await sources('two')).toEqual(['one-feed', 'two-feed']);
    expect((await shown('two')).record).toMatchObject({ id: 'one' });
  }
  expect((await bds('join', '--list')).out).toMatch(
    /one-feed\/one two-feed\/two +Alan +\S+ +The same firm\./,
  );
  const refused = await bds('separate', 'two-feed/two', '--reason', 'x');
  expect(refused).toMatchObject({ code: 1, errors: expect.stringMatching(/bds unjoin/) });
  await json('catalogue', 'export', '--out', 'joined.ndjson');
  expect(await json('catalogue', 'restore', 'joined.ndjson', '--dry-run')).toMatchObject({
    restored: 0,
    refused: 0,
  });
  expect(await json('unjoin', 'one', 'two')).toMatchObject({ changed: true });
  expect([await sources('one'), await sources('two')]).toEqual([['one-feed'], ['two-feed']]);

  await bring('three-feed', { ...two, id: 'three' });
  expect(await sources('two')).toEqual(['three-feed', 'two-feed']);
  expect(await json('separate', 'three-feed/three', ...words)).toMatchObject({ changed: true });
  await bring('three-feed', { ...two, id: 'three', rank: 7 });
  expect(await sources('two')).toEqual(['two-feed']);
  expect((await bds('show', 'two')).out).toMatch(/an operator has separated them/);
  expect((await bds('separate', '--list')).out).toMatch(/three-feed\/three two-feed\/two +Alan/);
  expect(await json('unseparate', 'three-feed/three')).toMatchObject({ changed: true });
  expect(await sources('two')).toEqual(['three-feed', 'two-feed']);
});

test.each([
  [['join', 'nobody-has-this', '--reason', 'x'], 2, /two names/],
  [['join', 'nobody-has-this', 'nor-this', '--reason', 'x'], 1, /bds resolve/],
  [['join', 'nobody-has-this', 'nor-this'], 2, /--reason/],
  [['suppress', '--reason', 'x'], 2, /give an id/],
  [['suppress', 'nobody-has-this'], 2, /--reason/],
  [['suppress', 'nobody-has-this', '--reason', 'x'], 1, /bds resolve/],
])('bds %j is refused with what to do', async (args, code, words) => {
  expect(await bds(...args)).toMatchObject({ code, errors: expect.stringMatching(words) });
});

test('who sets a field is the operator whose credential it is, unless --by names somebody', async () => {
  await bring('who-feed', { ...acme, id: 'who', name: 'Who' });
  await json('set', 'who', 'company.ceo=Ada', '--reason', 'x');
  expect((await shown('who')).overrides).toMatchObject([{ by: 'installation' }]);
  const { out } = await bds('operator', 'create', 'carl', '--role', 'catalogue', '--json');
  const carl = { BDS_OPERATOR_TOKEN: JSON.parse(out).credential };
  const set = await runBds(stack, folder, ['set', 'who', 'company.ceo=Grace', '--reason', 'x'], carl);
  expect(set).toMatchObject({ code: 0, errors: '' });
  expect((await shown('who')).overrides).toMatchObject([{ by: 'carl' }]);
});

test('values are written as in tables: lists, places, listings, JSON, and none for no value', async () => {
  const websites = ['https://wrong.example/'];
  await bring('forms-feed', { ...acme, id: 'forms', name: 'Forms', links: { websites } });
  await json(
    'set',
    'forms',
    'company.founders=Ada; Grace',
    'company.headquarters=Paris, France',
    'rank=612',
    'type=stock',
    'listings=NASDAQ:FRMS; FRM.DE',
    'links.websites=none',
    'description=a=b; c',
    'links.social_media=[{"name":"Mastodon","url":"https://m.example/forms"}]',
    '--reason',
    'x',
  );
  const { record } = await shown('forms');
  expect(record).toMatchObject({
    type: 'stock',
    description: 'a=b; c',
    rank: 612,
    listings: [
      { ticker: 'FRMS', mic: 'XNAS' },
      { ticker: 'FRM', mic: 'XETR' },
    ],
    company: {
      founders: ['Ada', 'Grace'],
      headquarters: { city: 'Paris', country: 'France', country_code: 'FR' },
    },
    links: { social_media: [{ name: 'Mastodon', url: 'https://m.example/forms' }] },
  });
  expect(record.links).not.toHaveProperty('websites');
  const { out } = await bds('show', 'forms');
  expect(out).toMatch(/links\.websites +\(none\)/);
  expect(await json('resolve', 'FRM.DE')).toMatchObject({ meaning: { id: 'forms' } });
  expect(await json('resolve', 'wrong.example')).toMatchObject({ meaning: null });
});

test.each([
  ['an unknown field', ['company.boss=Ada', '--reason', 'x'], 2, /company\.boss.*company\.ceo/],
  ['the id', ['id=other', '--reason', 'x'], 2, /"id" is no field/],
  ['the sources', ['sources=me', '--reason', 'x'], 2, /"sources" is no field/],
  ['no reason', ['company.ceo=Ada'], 2, /--reason/],
  ['a long reason', ['company.ceo=Ada', '--reason', 'x'.repeat(501)], 2, /500/],
  ['no equals sign', ['company.ceo', '--reason', 'x'], 2, /field=value/],
  ['no value', ['company.ceo=', '--reason', 'x'], 2, /bds unset/],
  ['a name of none for a number', ['rank=high', '--reason', 'x'], 2, /number/],
  ['a wrong type', ['type=shop', '--reason', 'x'], 2, /stock, brand/],
  ['a wrong URL', ['links.wikipedia=acme', '--reason', 'x'], 2, /http or https URL/],
  ['a wrong check digit', ['lei=529900T8BM49AURSDO99', '--reason', 'x'], 1, /check digit/],
])('%s is refused, and nothing is set', async (_, args, code, words) => {
  await bring('bad-feed', { ...acme, id: 'bad', name: 'Bad' });
  const ran = await bds('set', 'bad', 'description=Good.', ...args);
  expect(ran).toMatchObject({ code, out: '', errors: expect.stringMatching(words) });
  expect((await shown('bad')).overrides).toEqual([]);
});

test('an unknown id is refused with the command that finds ids', async () => {
  const ran = await bds('set', 'nobody-has-this', 'company.ceo=Ada', '--reason', 'x');
  expect(ran).toMatchObject({ code: 1, errors: expect.stringMatching(/"nobody-has-this".*bds resolve/) });
  expect(await bds('unset', 'nobody-has-this', 'company.ceo')).toMatchObject({ code: 1 });
});

test('no import can bring records of the source operator', async () => {
  const path = await file('forged.ndjson', acme);
  const ran = await bds('import', 'records', path, '--source', 'operator');
  expect(ran).toMatchObject({ code: 2, out: '', errors: expect.stringMatching(/operator.*bds set/) });
});

test('a dry run reports what would change, and sets nothing', async () => {
  await bring('dry-feed', { ...acme, id: 'dry', name: 'Dry' });
  expect(await json('set', 'dry', 'company.ceo=Ada', '--reason', 'x', '--dry-run')).toMatchObject({
    dry_run: true,
    changed: 1,
  });
  expect((await shown('dry')).overrides).toEqual([]);
  await json('set', 'dry', 'company.ceo=Ada', '--reason', 'x');
  expect(await json('unset', 'dry', 'company.ceo', '--dry-run')).toMatchObject({ unset: ['company.ceo'] });
  expect((await shown('dry')).overrides).toHaveLength(1);
});

test('many fields are set from a file of JSON lines or a table, and setting them again changes nothing', async () => {
  await bring(
    'many-feed',
    { ...acme, id: 'many-a', name: 'Many A' },
    { ...acme, id: 'many-b', name: 'Many B' },
  );
  const lines = await file(
    'many.ndjson',
    { id: 'many-a', field: 'company.founders', value: ['Ada', 'Grace'], reason: 'One.' },
    { id: 'many-b', field: 'links.websites', value: null, reason: 'Two.', by: 'Alan' },
  );
  const table = await file('many.csv', 'id,field,value,reason', 'many-a,company.ceo,"Ada, Countess",Three.');
  expect(await json('set', '--from-file', lines)).toMatchObject({
    read: 2,
    changed: 2,
    unchanged: 0,
    refused: 0,
  });
  expect(await json('set', '--from-file', lines)).toMatchObject({ read: 2, changed: 0, unchanged: 2 });
  expect(await json('set', '--from-file', table, '--by', 'Alan')).toMatchObject({ read: 1, changed: 1 });
  expect((await shown('many-a')).overrides).toMatchObject([
    { field: 'company.ceo', value: 'Ada, Countess', by: 'Alan', reason: 'Three.' },
    { field: 'company.founders', value: ['Ada', 'Grace'], reason: 'One.' },
  ]);
  expect((await shown('many-b')).overrides).toMatchObject([
    { field: 'links.websites', value: null, by: 'Alan' },
  ]);
});

test('the list of all fields that are set can be given back as a file', async () => {
  await bring('list-feed', { ...acme, id: 'listed', name: 'Listed' });
  const fields = [
    'rank=7',
    'company.founders=Ada;Grace',
    'company.headquarters=Paris, France',
    'domains=none',
  ];
  await json('set', 'listed', ...fields, '--reason', 'x');
  const { out } = await bds('set', '--list', '--json');
  const lines = out
    .trimEnd()
    .split('\n')
    .filter((line) => line.includes('"listed"'));
  expect(lines).toHaveLength(4);
  const before = await shown('listed');
  const path = await file('listed.ndjson', ...lines);
  expect(await json('set', '--from-file', path)).toMatchObject({ changed: 0, unchanged: 4 });
  await json('unset', 'listed', 'rank', 'company.founders', 'company.headquarters', 'domains');
  expect(await json('set', '--from-file', path)).toMatchObject({ changed: 4 });
  expect((await shown('listed')).record).toEqual(before.record);
});

test('a file with a wrong line sets nothing, and the wrong lines are in the rejects file with their places', async () => {
  await bring('wrong-feed', { ...acme, id: 'wrong', name: 'Wrong' });
  const good = { id: 'wrong', field: 'company.ceo', value: 'Ada', reason: 'x' };
  const path = await file(
    'wrong.ndjson',
    good,
    { ...good, field: 'company.boss' },
    { ...good, field: 'rank', reason: '' },
    { ...good, field: 'lei', value: '529900T8BM49AURSDO99' },
    { ...good, id: 'nobody-has-this' },
    good,
    '{',
  );
  const { code, out } = await bds('set', '--from-file', path, '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ read: 7, refused: 6, rejects_file: 'set.rejects.ndjson' });
  const rejects = (await readFile(join(folder, 'set.rejects.ndjson'), 'utf8')).trimEnd().split('\n');
  const places = rejects.map((line) => JSON.parse(line).from).sort();
  expect(places).toEqual([2, 3, 4, 5, 6, 7].map((line) => `wrong.ndjson:${line}`));
  expect((await shown('wrong')).overrides).toEqual([]);
});

test('a file that is refused only when it is written says how many fields were set', async () => {
  const links = { wikidata_qid: 'Q4020123' };
  const others = Array.from({ length: 500 }, (_, index) => `late-${index}`);
  await bring(
    'late-feed',
    { ...acme, id: 'late', name: 'Late', links, type: 'stock', listings: [{ ticker: 'LATE', mic: 'XNAS' }] },
    ...others.map((id) => ({ ...acme, id, name: id })),
  );
  await bring('late-other-feed', { ...acme, id: 'late-too', name: 'Late', links });
  // Each line is right alone. The last one is sent in another batch than the first one, which is about the same company.
  const path = await file(
    'late.ndjson',
    { id: 'late', field: 'type', value: 'brand', reason: 'x' },
    ...others.map((id) => ({ id, field: 'company.ceo', value: 'Ada', reason: 'x' })),
    { id: 'late-too', field: 'stock.price', value: 3, reason: 'x' },
  );
  expect(await bds('set', '--from-file', path)).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^Read +502\nChanged +501\n/),
    errors: expect.stringContaining('1 of 502 were refused, and 501 fields were set, see set.rejects.ndjson'),
  });
});

test('a company that is pruned leaves what was set waiting, and it applies again when the company returns', async () => {
  const returning = { ...acme, id: 'returning', name: 'Returning' };
  await bring('return-feed', returning);
  await json('set', 'returning', 'company.ceo=Ada', '--reason', 'x');
  await bring('return-feed', { ...acme, id: 'instead', name: 'Instead' });
  expect((await bds('show', 'returning')).code).toBe(1);
  expect((await bds('set', '--list')).out).toMatch(/returning \(waits\) +company\.ceo +Ada/);
  await bring('return-feed', returning);
  expect((await shown('returning')).record.company?.ceo).toBe('Ada');
});

test('a deletion deletes what was set too, and says so', async () => {
  const gone = { ...acme, id: 'gone', name: 'Gone' };
  await bring('gone-feed', gone);
  await json('set', 'gone', 'company.ceo=Ada', 'company.founded=1901', '--reason', 'x');
  expect((await bds('delete', 'gone', '--yes')).out).toMatch(/1 source record.* 2 fields/);
  await bring('gone-feed', gone);
  expect((await shown('gone')).overrides).toEqual([]);
});

test('gateways answer with what was set within 5 seconds', async () => {
  await bring('told-feed', { ...acme, id: 'told', name: 'Told' });
  await json('plan', 'set', 'set-plan', '--pool', 'calls=10000:brands,logos');
  await json('account', 'create', '--id', 'set-account', '--name', 'One', '--plan', 'set-plan');
  const { token } = (await json('key', 'create', 'set-account')) as { token: string };
  const description = async () => {
    const answer = await fetch(`${stack.gateways[0]?.url}/v1/brands/told?token=${token}`);
    return ((await answer.json()) as { description?: string }).description;
  };
  await expect.poll(description).toBe('Acme makes anvils.');
  await json('set', 'told', 'description=Set.', '--reason', 'x');
  await expect.poll(description, { timeout: 20_000 }).toBe('Set.');
  await json('unset', 'told', 'description');
  await expect.poll(description, { timeout: 20_000 }).toBe('Acme makes anvils.');
});
