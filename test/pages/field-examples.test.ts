import { flatRecordSchema, groupedRecordSchema, presentFlat, presentGrouped } from '@brand-data/presenters';
import { fieldsOf } from '@brand-data/presenters/test/walk.ts';
import { brandFromRecord } from '@brand-data/records';
import { expect, test } from 'vitest';
import { readSample } from '../e2e/sample.ts';

const brands = (await readSample()).map((record) => brandFromRecord(record));
const options = { logoHost: 'https://images.example', monogramKey: 'any' };

/** Fields of which the sample knows nothing. */
const UNKNOWN = ['stock.range', 'stock.percent_from_52_week_low'];
/** The facts of images come from the imported files. `test/e2e/docs.system.test.ts` compares them with an answer. */
const OF_IMAGES = /^(logo$|images\.|stock\.exchange_logo$)/;

test.each([
  ['grouped', groupedRecordSchema, presentGrouped],
  ['flat', flatRecordSchema, presentFlat],
] as const)('each example of a field of the %s record is a fact of the sample', (_, schema, present) => {
  const facts = new Set(brands.flatMap((brand) => factsOf(present(brand, options))));
  const untrue = fieldsOf(schema)
    .filter(({ path }) => !UNKNOWN.includes(path) && !OF_IMAGES.test(path))
    .flatMap(({ path, schema: { examples = [] } }) => examples.map((example) => factAt(path, example)))
    .filter((fact) => !facts.has(fact));
  expect(untrue).toEqual([]);
  for (const path of UNKNOWN) expect([...facts].filter((fact) => fact.startsWith(`${path} `))).toEqual([]);
});

const factAt = (path: string, value: unknown) => `${path} ${JSON.stringify(value)}`;

/** Every value in the record, with its path. Items of a list of objects have the path of the list. */
function factsOf(value: unknown, path = ''): string[] {
  const own = path === '' ? [] : [factAt(path, value)];
  if (typeof value !== 'object' || value === null) return own;
  const within = path === '' ? '' : `${path}.`;
  const inner = Array.isArray(value)
    ? value.filter((item) => typeof item === 'object').flatMap((item) => factsOf(item, path))
    : Object.entries(value).flatMap(([name, field]) => factsOf(field, `${within}${name}`));
  return [...own, ...inner];
}
