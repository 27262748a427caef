import { dirname } from 'node:path';
import type { Brand } from '@brand-data/contracts';
import { brandFromRecord, readRecord } from '@brand-data/records';
import { filesOf, sizeOf } from '../../formats/content.ts';
import {
  JSON_FILE,
  JSON_LINES,
  type JsonValue,
  readJsonDocument,
  readJsonLines,
} from '../../formats/json.ts';
import { readEach } from '../../formats/lines.ts';
import type { BytesRead, ReadItem, Unreadable } from '../../framework/source-items.ts';
import { takePictures } from '../../pictures/take-pictures.ts';

/**
 * Yields the records of files and folders, in the order of the files' names. A .json file holds one record or a list of records,
 * and yields none if it is not valid JSON. Any other file has one record a line. All files may be compressed. Files of pictures
 * that a record names are in the folder of the record's file.
 */
export async function* readRecords(
  paths: readonly string[],
  { progress }: { progress?: BytesRead | undefined } = {},
): AsyncGenerator<ReadItem<Brand>> {
  const files = await filesOf(paths, (name) => JSON_FILE.test(name) || JSON_LINES.test(name));
  if (progress !== undefined) progress.total = await sizeOf(files);
  for (const file of files) {
    const values = JSON_FILE.test(file) ? valuesOfDocument(file, progress) : readJsonLines(file, progress);
    yield* readEach(values, (value) => brandOfValue(value, dirname(file)));
  }
}

/** Yields the file's only value, or the items of its list. The place "brands.json[3]" is the fourth item. */
async function* valuesOfDocument(
  file: string,
  progress: BytesRead | undefined,
): AsyncGenerator<JsonValue | Unreadable> {
  const read = await readJsonDocument(file, progress);
  if (read === undefined) return;
  if ('problem' in read) yield read;
  else if (!Array.isArray(read.value)) yield { ...read, from: `${file}:1` };
  else
    for (const [index, value] of read.value.entries())
      yield { from: `${file}[${index}]`, value, raw: JSON.stringify(value) };
}

/** @param folder the folder of the pictures that the record names */
function brandOfValue({ from, value, raw }: JsonValue, folder: string): ReadItem<Brand> {
  const broken = HALF_CHARACTER.test(raw) ? brokenTextIn(value) : undefined;
  if (broken !== undefined)
    return {
      from,
      problem: `${broken || 'the record'} contains an unpaired surrogate (\\ud800 to \\udfff): correct the text`,
      raw,
    };
  const { value: record, pictures } = takePictures(value, folder);
  const read = readRecord(record);
  if ('problems' in read) return { from, problem: read.problems.join('; '), raw };
  return { from, item: brandFromRecord(read.record), raw, pictures };
}

/**
 * Matches a surrogate, which is half of a character beyond U+FFFF. Only a JSON escape can write one without its other half,
 * because UTF-8 cannot encode surrogates.
 */
const HALF_CHARACTER = /\\u[dD][89a-fA-F]/;

/** Returns the name of the first text that is not well-formed, such as "names[1]". Undefined if all texts are well-formed. */
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
