import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { breakingChanges } from '../check-contracts.ts';
import { type Json, OPENAPI, RECORD_SCHEMA, RELEASED_PROTO } from '../release/contracts.ts';

const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'contracts-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('proto', () => {
  test('the present contracts go with the last release', () => {
    expect(breaking((proto) => proto)).toEqual({ status: 0, output: '' });
  });

  test.each<[string, RegExp, string, string]>([
    ['a value of an enum gets another number', /( MATCH_KIND_TICKER = )1;/, '$199;', 'MATCH_KIND_TICKER'],
    ['a field is removed and its number is not reserved', /\n.* name = 1;/, '', 'field "1"'],
    ['an RPC is removed', /\n {2}rpc Lookup\(.*/, '', 'RPC "Lookup"'],
  ])('fails if %s, whatever the last commits changed', (_, find, replacement, named) => {
    const { status, output } = breaking((proto) => proto.replace(find, replacement));
    expect(status).toBe(100);
    expect(output).toContain(named);
  });

  /** Changes the contract of catalog in a copy, and compares the copy with the last release. */
  function breaking(change: (proto: string) => string) {
    for (const each of ['proto', 'buf.yaml'])
      cpSync(join(ROOT, each), join(folder, each), { recursive: true });
    const file = join(folder, 'proto/brand_data/v1/catalog.proto');
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    const buf = join(ROOT, 'node_modules/.bin/buf');
    const { status, stdout } = spawnSync(buf, ['breaking', folder, '--against', RELEASED_PROTO], {
      encoding: 'utf8',
    });
    return { status, output: stdout };
  }
});

describe.each([
  ['the OpenAPI document', OPENAPI, 'sent'],
  ['the schema of records', RECORD_SCHEMA, 'accepted'],
] as const)('%s', (_, contract, direction) => {
  const released = contract.released();

  test('goes with the last release', () => {
    expect(breakingChanges(released, contract.present(), direction)).toEqual([]);
  });

  test('fails if any of its parts is missing', () => {
    expect(partsOf(released).length).toBeGreaterThan(500);
    for (const part of partsOf(released)) {
      const changed = structuredClone(released);
      removeAt(changed, part);
      expect(breakingChanges(released, changed, direction), part.join('/')).not.toEqual([]);
    }
  });
});

test('what we accept may not get a new condition, and what we send may', () => {
  const released = { type: 'object', properties: { name: { type: 'string' } }, required: ['type'] };
  const narrower = {
    ...released,
    properties: { name: { type: 'string', maxLength: 9 }, pattern: {} },
    required: ['type', 'name'],
  };
  expect(breakingChanges(released, narrower, 'sent')).toEqual([]);
  expect(breakingChanges(released, narrower, 'accepted')).toEqual([
    '#/properties/name has a new condition: maxLength',
    '#/required has a new condition',
  ]);
});

test('a pattern may get further alternatives, and lose none', () => {
  const schema = (pattern: string) => ({ schema: { pattern } });
  const released = schema('^kind=(ticker|name), strength=(exact|former)$');
  const wider = schema('^kind=(ticker|name), strength=(exact|former|leading_words)$');
  for (const direction of ['sent', 'accepted'] as const) {
    expect(breakingChanges(released, wider, direction)).toEqual([]);
    expect(breakingChanges(wider, released, direction)).toHaveLength(1);
    expect(breakingChanges(released, schema('^kind=(ticker|name)$'), direction)).toHaveLength(1);
    expect(breakingChanges(schema('^(?!a|b)'), schema('^(?!a|b|c)'), direction)).toHaveLength(1);
  }
});

test('an operation may get a new parameter, but not a required one', () => {
  const parameters = (...added: Json[]) => ({ parameters: [{ name: 'token', required: true }, ...added] });
  expect(breakingChanges(parameters(), parameters({ name: 'kind' }), 'sent')).toEqual([]);
  expect(breakingChanges(parameters(), parameters({ name: 'kind', required: true }), 'sent')).toHaveLength(1);
});

test('a parameter may not get a new condition', () => {
  const parameters = (schema: Json) => ({ parameters: [{ name: 'month', in: 'query', schema }] });
  const released = parameters({ type: 'string' });
  expect(breakingChanges(released, parameters({ type: 'string', maxLength: 7 }), 'sent')).toHaveLength(1);
});

/** Returns the paths of all members of objects. */
function partsOf(value: Json, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const inner = partsOf(item, [...path, key]);
    return Array.isArray(value) ? inner : [[...path, key], ...inner];
  });
}

function removeAt(value: Json, [key = '', ...rest]: string[]): void {
  const members = value as { [key: string]: Json };
  if (rest.length === 0) delete members[key];
  else removeAt(members[key] ?? null, rest);
}
