import type { Brand } from '@brand-data/contracts';
import { brandFromRecord, readRecord } from '@brand-data/records';
import { filesOf, sizeOf } from '../../formats/files.ts';
import { type JsonValue, parseJson, readJsonLines } from '../../formats/json-lines.ts';
import { readLines } from '../../formats/lines.ts';
import type { BytesRead, ReadBrand, Unreadable } from '../../framework/source-items.ts';
import { type Icon, loadIcons, SIMPLE_ICONS, writeLogo } from '../simple-icons/icons.ts';

/** A file that holds one record or a list of records. It is read into memory as a whole. */
const JSON_FILE = /\.json(\.gz|\.bz2)?$/i;
/** A file with one record a line. */
const LINES_FILE = /\.(ndjson|jsonl)(\.gz|\.bz2)?$/i;
const MAX_JSON_CHARACTERS = 256 * 1024 * 1024;

export interface ReadRecordsOptions {
  /** If the package `simple-icons` has an icon under a listed company's id, the company's stock logo is written here. */
  imagesDir?: string | undefined;
  progress?: BytesRead | undefined;
}

/**
 * The records of files and folders. The files of a folder are read in the order of their names. A .json file holds one record
 * or a list of records. Any other file has one record a line. All files may be compressed. Yields a problem with its place
 * for each value that is not a record, and all other records. A .json file that is not valid JSON yields no records.
 */
export async function* readRecords(
  paths: readonly string[],
  { imagesDir, progress }: ReadRecordsOptions = {},
): AsyncGenerator<ReadBrand> {
  const files = await filesOf(paths, (name) => JSON_FILE.test(name) || LINES_FILE.test(name));
  if (progress !== undefined) progress.total = await sizeOf(files);
  const icons = imagesDir === undefined ? undefined : await loadIcons();
  for (const file of files) {
    const values = JSON_FILE.test(file) ? valuesOfDocument(file, progress) : readJsonLines(file, progress);
    for await (const value of values) {
      const read = 'problem' in value ? value : brandOfValue(value);
      const icon = 'brand' in read ? icons?.get(read.brand.id) : undefined;
      if (imagesDir !== undefined && icon !== undefined && 'brand' in read)
        await addStockLogo(read.brand, icon, imagesDir);
      yield read;
    }
  }
}

/** The file's only value, or the items of its list. The place "brands.json[3]" is the fourth item. */
async function* valuesOfDocument(
  file: string,
  progress: BytesRead | undefined,
): AsyncGenerator<JsonValue | Unreadable> {
  const lines: string[] = [];
  let characters = 0;
  for await (const line of readLines(file, progress)) {
    if ('problem' in line) {
      yield line;
      return;
    }
    lines.push(line.text);
    characters += line.text.length + 1;
    if (characters > MAX_JSON_CHARACTERS) {
      yield {
        from: file,
        problem:
          'the file is too large to be read into memory: write one record on each line of an .ndjson file',
      };
      return;
    }
  }
  const raw = lines.join('\n');
  if (raw.trim() === '') return;
  const parsed = parseJson(raw);
  if ('problem' in parsed) yield { from: file, ...parsed };
  else if (!Array.isArray(parsed.value)) yield { from: `${file}:1`, value: parsed.value, raw };
  else
    for (const [index, value] of parsed.value.entries())
      yield { from: `${file}[${index}]`, value, raw: JSON.stringify(value) };
}

function brandOfValue({ from, value, raw }: JsonValue): ReadBrand {
  const broken = HALF_CHARACTER.test(raw) ? brokenTextIn(value) : undefined;
  if (broken !== undefined)
    return {
      from,
      problem: `${broken || 'the record'} contains an unpaired surrogate (\\ud800 to \\udfff): correct the text`,
      raw,
    };
  const read = readRecord(value);
  if ('problems' in read) return { from, problem: read.problems.join('; '), raw };
  return { from, brand: brandFromRecord(read.record), raw };
}

/**
 * Matches a surrogate, which is half of a character beyond U+FFFF. Only a JSON escape can write one without its other half,
 * because UTF-8 cannot encode surrogates.
 */
const HALF_CHARACTER = /\\u[dD][89a-fA-F]/;

/** The name of the first text that is not well-formed, such as "names[1]". Undefined if all texts are well-formed. */
function brokenTextIn(value: unknown, name = ''): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : name;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const below = Array.isArray(value) ? `${name}[${key}]` : name === '' ? key : `${name}.${key}`;
    const broken = key.isWellFormed() ? brokenTextIn(item, below) : name;
    if (broken !== undefined) return broken;
  }
  return undefined;
}

async function addStockLogo(brand: Brand, icon: Icon, imagesDir: string): Promise<void> {
  const [main] = brand.listings;
  if (main === undefined || brand.images?.stockLogo !== undefined) return;
  const stockLogo = await writeLogo(icon, imagesDir, `stocks/${main.ticker}`);
  brand.images = { logo: undefined, bannerPath: '', ...brand.images, stockLogo };
  brand.sources.push({ ...SIMPLE_ICONS, date: '', fields: ['images.stock_logo'] });
}
