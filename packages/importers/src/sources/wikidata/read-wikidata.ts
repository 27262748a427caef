import { isUtf8 } from 'node:buffer';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { parseJson } from '../../formats/json-lines.ts';
import { type RawLine, rawLinesOf } from '../../formats/lines.ts';
import type { BytesRead, ReadBrand, Unreadable } from '../../framework/source-items.ts';
import { brandOfFacts } from './brand.ts';
import { evidenceOf, isCompany } from './classes.ts';
import { type Entity, type ItemNumber, itemNumber } from './entity.ts';
import { companyFactsOf, itemsNamedBy, namedFactsOf, parentOf, partOfStatements } from './facts.ts';
import { closesArray, glimpse, opensArray, trimmed, worthOf } from './raw-line.ts';
import { itemSet, openSideStore, type SideStore } from './side-store.ts';

export interface WikidataFigures {
  entities: number;
  companies: number;
  /** Companies without a name in any language. */
  nameless: number;
  /** How many listings were left out because their exchange's MIC is not known, by the exchange's id. "others" if these are many. */
  unknownExchanges: Record<string, number>;
}

export interface WikidataOptions {
  /** Statements that ended by this time are ignored, or used as former names. */
  now?: Date;
  /** A folder where some gigabytes of disk are used while the dump is read. */
  workDir?: string;
  /** The file is read twice, and each reading is half of the progress. */
  progress?: BytesRead | undefined;
  /** When it is aborted, reading ends, and no more records are yielded. */
  signal?: AbortSignal | undefined;
  /** Called once, after the last record. */
  onFigures?: (figures: WikidataFigures) => void;
}

/** Far more than any entity needs: the largest have some megabytes. */
const MAX_LINE_MIB = 16;
/** So many unknown exchanges are counted each for itself, the others together. */
const MOST_EXCHANGES = 1_000;
const OTHER_EXCHANGES = 'others';
/** If the first lines, as many as this, contain no entity, the file is not a dump. */
const MAX_FOREIGN_LINES = 1_000;

/**
 * The companies and brands of a Wikidata dump. README.md describes the file's form. The file is read twice, because an item may
 * refer to any other item. If a line cannot be read, a problem with file and line is yielded, and reading continues.
 */
export async function* readWikidata(file: string, options: WikidataOptions = {}): AsyncGenerator<ReadBrand> {
  const { now = new Date(), workDir = tmpdir(), progress, signal, onFigures } = options;
  const { size } = await stat(file);
  using store = openSideStore(workDir);
  const wanted = itemSet();
  const figures: WikidataFigures = { entities: 0, companies: 0, nameless: 0, unknownExchanges: {} };
  const reading = (nth: number) => (position: number) => {
    if (progress !== undefined) progress.read = Math.floor((nth * size + position) / 2);
  };

  yield* findCompanies(file, { ...options, now, store, wanted, figures, onPosition: reading(0) });
  if (signal?.aborted) return;
  await findNames(file, { ...options, now, store, wanted, onPosition: reading(1) });
  if (signal?.aborted) return;

  const dumpDate = dateIn(basename(file));
  for (const facts of store.companies()) {
    const brand = brandOfFacts(
      facts,
      { of: store.named, parentOf: store.parentOf },
      {
        dumpDate,
        onUnknownExchange: (exchange) => {
          const counts = figures.unknownExchanges;
          const isFull = Object.keys(counts).length >= MOST_EXCHANGES;
          const id = isFull && counts[`Q${exchange}`] === undefined ? OTHER_EXCHANGES : `Q${exchange}`;
          counts[id] = (counts[id] ?? 0) + 1;
        },
      },
    );
    if (brand === undefined) figures.nameless++;
    else yield { from: brand.id, brand };
  }
  onFigures?.(figures);
}

interface Pass {
  now: Date;
  store: SideStore;
  signal?: AbortSignal | undefined;
  wanted: ReturnType<typeof itemSet>;
  onPosition: (position: number) => void;
}

/** The first reading: stores the facts of companies and places, and collects the items that the facts refer to. */
async function* findCompanies(
  file: string,
  pass: Pass & { figures: WikidataFigures },
): AsyncGenerator<Unreadable> {
  const { now, store, wanted, figures } = pass;
  const at = ({ number }: RawLine) => `${file}:${number}`;
  let last = 0;
  let problems = 0;
  let isOpen = false;
  let isLastBad = false;

  function keep(entity: Entity, item: ItemNumber): boolean {
    if (isCompany(evidenceOf(entity))) {
      const facts = companyFactsOf(entity, item, now);
      if (!store.addCompany(facts)) return false;
      figures.companies++;
      for (const other of itemsNamedBy(facts)) wanted.add(other);
    }
    const named = namedFactsOf(entity, now);
    const isLandmark = named.countryCode ?? named.isSubdivision ?? named.languageCode ?? named.mics;
    if (isLandmark !== undefined) store.addNamed(item, named);
    const parent = parentOf(partOfStatements(entity), now);
    if (parent !== undefined) store.addParent(item, parent);
    return true;
  }

  /** Returns the line's problem, if it has one. */
  function take(line: RawLine): string | undefined {
    const json = trimmed(line.bytes);
    const seen = glimpse(json);
    if (opensArray(line.bytes)) isOpen = true;
    if (closesArray(line.bytes)) isOpen = false;
    if (line.problem !== undefined) return line.problem;
    if (seen.kind === 'blank') return undefined;
    if (seen.kind === 'other') {
      figures.entities++;
      return undefined;
    }
    if (seen.kind === 'item') {
      const { company, landmark, partOf } = worthOf(json);
      if (!company && !landmark) {
        figures.entities++;
        const parent = partOf.length === 0 ? undefined : parentOf(partOf, now);
        if (parent !== undefined) store.addParent(seen.item, parent);
        return undefined;
      }
    }
    const entity = entityIn(json);
    if ('problem' in entity) return entity.problem;
    figures.entities++;
    const item = itemNumber(entity.id);
    if (item !== undefined && !keep(entity, item))
      return `${entity.id} occurs twice in the dump: the import ignores this line`;
    return undefined;
  }

  for await (const lines of rawLinesOf(file, MAX_LINE_MIB, pass.onPosition)) {
    if (pass.signal?.aborted) return;
    for (const line of lines) {
      last = line.number;
      const problem = take(line);
      isLastBad = problem !== undefined;
      if (problem === undefined) continue;
      yield { from: at(line), problem, raw: line.bytes.toString() || undefined };
      if (++problems >= MAX_FOREIGN_LINES && figures.entities === 0) {
        yield { from: file, problem: 'the file is not a JSON dump of Wikidata: no line is an entity' };
        return;
      }
    }
  }
  if (isOpen && !isLastBad)
    yield {
      from: `${file}:${last}`,
      problem: 'the file ends before its JSON array is closed: download or copy it again',
    };
  else if (last === 0) yield { from: file, problem: 'the file is empty' };
}

/** The second reading: stores the names of the items that companies refer to. The first reading reported all problems. */
async function findNames(file: string, pass: Pass): Promise<void> {
  const { now, store, wanted } = pass;
  for await (const lines of rawLinesOf(file, MAX_LINE_MIB, pass.onPosition)) {
    if (pass.signal?.aborted) return;
    for (const line of lines) {
      const json = trimmed(line.bytes);
      const seen = glimpse(json);
      if (seen.kind !== 'unknown' && !(seen.kind === 'item' && wanted.has(seen.item))) continue;
      const entity = entityIn(json);
      const item = 'problem' in entity ? undefined : itemNumber(entity.id);
      if (item !== undefined && wanted.has(item)) store.addNamed(item, namedFactsOf(entity as Entity, now));
    }
  }
}

function entityIn(json: Buffer): Entity | { problem: string } {
  if (!isUtf8(json)) return { problem: 'the line is not UTF-8' };
  const parsed = parseJson(json.toString());
  if ('problem' in parsed) return parsed;
  const { value } = parsed;
  const { id, entity, redirect } = Object(value);
  if (typeof id === 'string' && id !== '') return value as Entity;
  if (typeof entity === 'string' && typeof redirect === 'string') return { id: entity };
  return { problem: 'the line is not an entity: it has no id' };
}

/** The date in a file's name: 2026-08-03 in "wikidata-20260803-all.json.gz". '' if there is none. */
function dateIn(name: string): string {
  const [, year, month, day] = /(20\d{2})-?([01]\d)-?([0-3]\d)/.exec(name) ?? [];
  return year === undefined ? '' : `${year}-${month}-${day}`;
}
