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

/** A contract in JSON without texts for readers: as the last release wrote it to `file`, and as this code would. */
interface Document {
  file: string;
  released: () => Json;
  present: () => Json;
}

/** What callers get from the public API. */
export const OPENAPI = contract(
  'openapi.json',
  () => JSON.parse(openApiDocument({ docsUrl: EXAMPLE_DOCS_URL, logoHost: 'https://example.com' })),
  // 0.1.0 wrote the same schemas in another way.
  (_, node) => (node !== null && typeof node === 'object' && !Array.isArray(node) ? published(node) : node),
);

/** What operators may write in files of records. */
export const RECORD_SCHEMA = contract('record.schema.json', () =>
  JSON.parse(readFileSync(join(ROOT, 'packages/records/record.schema.json'), 'utf8')),
);

function contract(name: string, present: () => Json, reviver?: Parameters<typeof JSON.parse>[1]): Document {
  const file = join(RELEASED, name);
  return {
    file,
    released: () => JSON.parse(readFileSync(file, 'utf8'), reviver),
    present: () => withoutProse(present()),
  };
}

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
