import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { RECORD_JSON_SCHEMA, readRecord } from '../src/index.ts';
import { arbitraryShape } from './arbitrary-record.ts';

test('record.schema.json is the record format: npm run --silent bds -- schema > packages/records/record.schema.json', async () => {
  const file = join(import.meta.dirname, '..', 'record.schema.json');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(RECORD_JSON_SCHEMA)));
});

test('the JSON Schema accepts a record if and only if readRecord does', () => {
  const schema = Compile(RECORD_JSON_SCHEMA as object);
  fc.assert(
    fc.property(arbitraryShape, fc.constantFrom('', 'id', 'name', 'sources'), (shape, without) => {
      const record = Object.fromEntries(Object.entries(shape).filter(([name]) => name !== without));
      expect(schema.Check(record)).toBe('record' in readRecord(record));
    }),
  );
});
