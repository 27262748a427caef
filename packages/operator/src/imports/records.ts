import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Brand, BrandType } from '@brand-data/contracts';
import { brandFromRecord } from '../records/brand-from-record.ts';
import { readRecord } from '../records/schema.ts';
import { type Icon, loadIcons, SIMPLE_ICONS, writeLogo } from './icons.ts';
import type { ReadBrand } from './run.ts';

/**
 * The records of files and folders. A .json file holds one record or a list of them, an .ndjson file one a line; of a
 * folder all .json files are read, by name. What is no record is said so, and the others go on. With `imagesDir`,
 * listed companies that the package `simple-icons` knows by their id get a stock logo, written below it.
 */
export async function* readRecords(
  paths: readonly string[],
  { imagesDir }: { imagesDir?: string | undefined },
): AsyncGenerator<ReadBrand> {
  const icons = imagesDir === undefined ? undefined : await loadIcons();
  for (const path of paths) {
    for await (const { from, value, problem } of readValues(path)) {
      if (problem !== undefined) {
        yield { from, problem };
        continue;
      }
      const read = readRecord(value);
      if ('problems' in read) {
        const id: unknown = Object(value).id;
        yield { from: typeof id === 'string' && id !== '' ? id : from, problem: read.problems.join('; ') };
        continue;
      }
      const brand = brandFromRecord(read.record);
      const icon = icons?.get(brand.id);
      if (imagesDir !== undefined && icon !== undefined) await addStockLogo(brand, icon, imagesDir);
      yield { from: brand.id, brand };
    }
  }
}

interface ReadValue {
  /** Where it stands: "apple.json", "brands.ndjson:12". */
  from: string;
  value?: unknown;
  problem?: string;
}

async function* readValues(path: string): AsyncGenerator<ReadValue> {
  if ((await stat(path)).isDirectory()) {
    const names = (await readdir(path)).filter((name) => name.endsWith('.json')).sort();
    for (const name of names) yield* readValues(join(path, name));
  } else if (path.endsWith('.ndjson')) {
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      number++;
      if (line.trim() !== '') yield parsed(`${path}:${number}`, line);
    }
  } else {
    const file = parsed(path, await readFile(path, 'utf8'));
    if (!Array.isArray(file.value)) yield file;
    else for (const [index, value] of file.value.entries()) yield { from: `${path}[${index}]`, value };
  }
}

function parsed(from: string, json: string): ReadValue {
  try {
    return { from, value: JSON.parse(json) };
  } catch (error) {
    return { from, problem: `it is not JSON: ${(error as Error).message}` };
  }
}

async function addStockLogo(brand: Brand, icon: Icon, imagesDir: string): Promise<void> {
  const [main] = brand.listings;
  if (brand.type !== BrandType.STOCK || main === undefined || brand.images?.stockLogo !== undefined) return;
  const stockLogo = await writeLogo(icon, imagesDir, `stocks/${main.ticker}`);
  brand.images = { logo: undefined, bannerPath: '', ...brand.images, stockLogo };
  brand.sources.push({ ...SIMPLE_ICONS, date: '', fields: ['images.stock_logo'] });
}
