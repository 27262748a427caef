import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { entityInJson } from '@brand-data/importers/test/gleif/files.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { companyAt } from './made-up-companies.ts';

/** Far behind the companies of any catalogue, so that an unknown entity is none of them. */
const UNKNOWN = 500_000_000;

/** Writes a golden copy of invented entities, as GLEIF writes its JSON. `known` of them, or all, are the first made-up companies. */
export async function writeEntities(entities: number, known: number) {
  const folder = await temporaryFolder();
  const file = join(folder, 'gleif-goldencopy-lei2-golden-copy.json.gz');
  await pipeline(Readable.from(partsOf(entities, known)), createGzip({ level: 1 }), createWriteStream(file));
  return { file, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

function* partsOf(entities: number, known: number): Generator<string> {
  const every = Math.max(1, Math.floor(entities / known));
  for (let index = 0; index < entities; index++) {
    // Known companies are spread over the file.
    const isKnown = index % every === 0 && index / every < known;
    const company = companyAt(isKnown ? index / every : UNKNOWN + index);
    const { name, home } = company;
    const entity = {
      lei: leiAt(company.index),
      name: `${name} ${home.legalForm}`,
      city: home.city,
      country: home.code,
      line: `${index} Main Street`,
    };
    yield `${index === 0 ? '{"records":[\n' : ',\n'}${JSON.stringify(entityInJson(entity), undefined, 4)}`;
  }
  yield ']}';
}

/** Returns the LEI that the made-up company of this index has, if it has one. */
function leiAt(index: number): string {
  const body = index.toString(36).toUpperCase().padStart(18, '0');
  let rest = 0;
  for (const sign of `${body}00`) {
    const value = Number.parseInt(sign, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return body + String(98 - rest).padStart(2, '0');
}
