/**
 * The contracts of the last release, which `npm run lint` holds the present ones against. `node deploy/release/contracts.ts` writes
 * them to proto/released. The release script does so for each new version.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLE_DOCS_URL, openApiDocument, published } from '@brand-data/gateway/openapi';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

const ROOT = join(import.meta.dirname, '../..');
const RELEASED = join(ROOT, 'proto/released');

/** The messages and RPCs between the services, as a compiled set of descriptors. */
export const RELEASED_PROTO = join(RELEASED, 'proto.binpb');

/** A contract in JSON: the file with its released form, and how to get the two forms that are compared. */
interface Document {
  file: string;
  released: () => Json;
  present: () => Json;
}

const RELEASED_OPENAPI = join(RELEASED, 'openapi.json');
const RELEASED_RECORD_SCHEMA = join(RELEASED, 'record.schema.json');

/** What callers get from the public API. */
export const OPENAPI: Document = {
  file: RELEASED_OPENAPI,
  // 0.1.0 wrote the same schemas in another way.
  released: () =>
    JSON.parse(readFileSync(RELEASED_OPENAPI, 'utf8'), (_, node) =>
      node !== null && typeof node === 'object' && !Array.isArray(node) ? published(node) : node,
    ),
  present: () =>
    withoutProse(JSON.parse(openApiDocument({ docsUrl: EXAMPLE_DOCS_URL, logoHost: 'https://example.com' }))),
};

/** What operators may write in files of records. */
export const RECORD_SCHEMA: Document = {
  file: RELEASED_RECORD_SCHEMA,
  released: () => JSON.parse(readFileSync(RELEASED_RECORD_SCHEMA, 'utf8')),
  present: () =>
    withoutProse(JSON.parse(readFileSync(join(ROOT, 'packages/records/record.schema.json'), 'utf8'))),
};

const PROSE = new Set(['description', 'summary', 'title', 'example', 'examples', 'info', 'tags', '$comment']);

/** Leaves out texts for readers, which may change at any time. */
function withoutProse(value: Json, isMap = false): Json {
  if (Array.isArray(value)) return value.map((item) => withoutProse(item));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => isMap || !PROSE.has(key));
  // The keys of these objects are names of fields, such as "description", and not keywords.
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutProse(item, key === 'properties')]));
}

if (import.meta.main) {
  execFileSync('buf', ['build', '--exclude-source-info', '--output', RELEASED_PROTO], { cwd: ROOT });
  for (const { file, present } of [OPENAPI, RECORD_SCHEMA])
    writeFileSync(file, `${JSON.stringify(present(), null, 1)}\n`);
}
