import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { takePictures } from '@brand-data/importers';
import { type BrandRecord, readRecord } from '@brand-data/records';

const CATALOGUE = join(import.meta.dirname, '../../deploy/local/catalogue');

/** Reads all records of the sample catalogue, without their pictures. */
export async function readSample(): Promise<BrandRecord[]> {
  const names = (await readdir(CATALOGUE)).filter((name) => name.endsWith('.json'));
  return Promise.all(
    names.map(async (name) => {
      const json: unknown = JSON.parse(await readFile(join(CATALOGUE, name), 'utf8'));
      const read = readRecord(takePictures(json, CATALOGUE).value);
      if ('problems' in read) throw new Error(`${name}: ${read.problems.join('; ')}`);
      return read.record;
    }),
  );
}
