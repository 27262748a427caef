import { isUtf8 } from 'node:buffer';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import type { Brand } from '@brand-data/contracts';
import { parseJson } from '../../formats/json.ts';
import { type RawLine, rawLinesOf } from '../../formats/lines.ts';
import { openSideDatabase } from '../../formats/side-database.ts';
import type { BytesRead, ReadItem, Unreadable } from '../../framework/source-items.ts';
import { brandOfFacts } from './brand.ts';
import { evidenceOf, isCompany } from './classes.ts';
import { type Entity, type ItemNumber, itemNumber, type Statement, statementsOf } from './entity.ts';
import { companyFactsOf, itemsNamedBy, namedFactsOf, parentOf } from './facts.ts';
import { closesArray, glimpse, opensArray, PART_OF, trimmed, worthOf } from './raw-line.ts';
import { ItemSet, type SideStore, sideStoreIn } from './side-store.ts';

export interface WikidataFigures {
  entities: number;
  companies: number;
  /** Companies without a name in any language. */
  nameless: number;
  /**
   * How many listings were left out because their exchange has no known MIC, by the exchange's Wikidata item. After
   * MOST_EXCHANGES exchanges, the rest are counted together as "others".
   */
  unknownExchanges: Record<string, number>;
}

export interface WikidataOptions {
  /** Statements that ended by this time are ignored, or used as former names. */
  now?: Date;
  /** The folder for temporary files. Reading a dump takes some gigabytes in it. */
  workDir?: string;
  /** The file is read twice, and each reading is half of the progress. */
  progress?: BytesRead | undefined;
  /** Aborting it ends the reading. No further records are yielded. */
  signal?: AbortSignal | undefined;
  /** Called once, after the last record. */
  onFigures?: (figures: WikidataFigures) => void;
}

/** Far more than any entity needs: the largest have some megabytes. */
const MAX_LINE_MIB = 16;
/** Up to this many unknown exchanges are counted separately. The rest are counted together. */
const MOST_EXCHANGES = 1_000;
const OTHER_EXCHANGES = 'others';
/** If this many lines at the start contain no entity, the file is not a dump. */
const MAX_FOREIGN_LINES = 1_000;

/**
 * Reads the companies and brands of a Wikidata dump as records. README.md describes the file's form. The file is read twice, because
 * an item may refer to any other item. A line that cannot be read gives a problem with its file and number, and reading continues.
 */
export async function* readWikidata(
  file: string,
  options: WikidataOptions = {},
): AsyncGenerator<ReadItem<Brand>> {
  const { signal, onFigures } = options;
  const { size } = await stat(file);
  using database = openSideDatabase(options.workDir ?? tmpdir());
  const store = sideStoreIn(database);
  const dump = new DumpReader({ now: new Date(), ...options, file, size, store });
  yield* dump.findCompanies();
  if (signal?.aborted) return;
  await dump.findNames();
  if (signal?.aborted) return;
  yield* dump.brands();
  onFigures?.(dump.figures);
}

type DumpOptions = WikidataOptions & { file: string; size: number; store: SideStore; now: Date };

class DumpReader {
  readonly figures: WikidataFigures = { entities: 0, companies: 0, nameless: 0, unknownExchanges: {} };
  readonly #options: DumpOptions;
  /** The items that the facts of companies refer to. */
  readonly #wanted = new ItemSet();

  constructor(options: DumpOptions) {
    this.#options = options;
  }

  /** The first reading: stores the facts of companies and places, and collects the items that the facts refer to. */
  async *findCompanies(): AsyncGenerator<Unreadable> {
    const { file, signal } = this.#options;
    let last = 0;
    let problems = 0;
    let isOpen = false;
    let isLastBad = false;
    for await (const lines of this.#lines(0)) {
      for (const line of lines) {
        last = line.number;
        if (opensArray(line.bytes)) isOpen = true;
        if (closesArray(line.bytes)) isOpen = false;
        const problem = line.problem ?? this.#take(trimmed(line.bytes));
        isLastBad = problem !== undefined;
        if (problem === undefined) continue;
        yield { from: `${file}:${last}`, problem, raw: line.bytes.toString() || undefined };
        if (++problems >= MAX_FOREIGN_LINES && this.figures.entities === 0) {
          yield { from: file, problem: 'the file is not a JSON dump of Wikidata: no line is an entity' };
          return;
        }
      }
    }
    if (signal?.aborted) return;
    if (isOpen && !isLastBad)
      yield {
        from: `${file}:${last}`,
        problem: 'the file ends before its JSON array is closed: download or copy it again',
      };
    else if (last === 0) yield { from: file, problem: 'the file is empty' };
  }

  /** The second reading: stores the names of the items that companies refer to. The first reading reported all problems. */
  async findNames(): Promise<void> {
    for await (const lines of this.#lines(1))
      for (const line of lines) {
        const json = trimmed(line.bytes);
        const seen = glimpse(json);
        if (seen !== 'unknown' && !(typeof seen === 'number' && this.#wanted.has(seen))) continue;
        const entity = entityIn(json);
        const item = 'problem' in entity ? undefined : itemNumber(entity.id);
        if (item !== undefined && this.#wanted.has(item))
          this.#options.store.named.set(item, namedFactsOf(entity as Entity, this.#options.now));
      }
  }

  *brands(): Generator<ReadItem<Brand>> {
    const { store } = this.#options;
    const options = {
      dumpDate: dateIn(basename(this.#options.file)),
      onUnknownExchange: (exchange: ItemNumber) => this.#countExchange(`Q${exchange}`),
    };
    for (const facts of store.companies.values()) {
      const brand = brandOfFacts(facts, store, options);
      if (brand === undefined) this.figures.nameless++;
      else yield { from: brand.id, item: brand };
    }
  }

  /** The lines of the dump, until the signal is aborted. The two readings are the halves of the progress. */
  async *#lines(reading: 0 | 1): AsyncGenerator<RawLine[]> {
    const { file, size, progress, signal } = this.#options;
    const onPosition = (position: number) => {
      if (progress !== undefined) progress.read = Math.floor((reading * size + position) / 2);
    };
    for await (const lines of rawLinesOf(file, MAX_LINE_MIB, onPosition)) {
      if (signal?.aborted) return;
      yield lines;
    }
  }

  /** Stores what a line has. Returns the line's problem, if it has one. */
  #take(json: Buffer): string | undefined {
    const seen = glimpse(json);
    if (seen === 'blank') return undefined;
    if (seen === 'other') {
      this.figures.entities++;
      return undefined;
    }
    if (typeof seen === 'number') {
      const { company, landmark, partOf } = worthOf(json);
      if (!company && !landmark) {
        this.figures.entities++;
        this.#addParent(seen, partOf);
        return undefined;
      }
    }
    const entity = entityIn(json);
    if ('problem' in entity) return entity.problem;
    this.figures.entities++;
    const item = itemNumber(entity.id);
    if (item !== undefined && !this.#keep(entity, item))
      return `${entity.id} occurs twice in the dump: the import ignores this line`;
    return undefined;
  }

  /** Returns false if the item is a company that was kept before. */
  #keep(entity: Entity, item: ItemNumber): boolean {
    const { companies, named } = this.#options.store;
    if (isCompany(evidenceOf(entity))) {
      if (companies.get(item) !== undefined) return false;
      const facts = companyFactsOf(entity, item, this.#options.now);
      companies.set(item, facts);
      this.figures.companies++;
      for (const other of itemsNamedBy(facts)) this.#wanted.add(other);
    }
    const facts = namedFactsOf(entity, this.#options.now);
    const isLandmark = facts.countryCode ?? facts.isSubdivision ?? facts.languageCode ?? facts.mics;
    if (isLandmark !== undefined) named.set(item, facts);
    this.#addParent(item, statementsOf(entity, PART_OF));
    return true;
  }

  #addParent(place: ItemNumber, partOf: readonly Statement[]): void {
    const parent = parentOf(partOf, this.#options.now);
    if (parent !== undefined) this.#options.store.parents.set(place, parent);
  }

  #countExchange(id: string): void {
    const counts = this.figures.unknownExchanges;
    const isFull = Object.keys(counts).length >= MOST_EXCHANGES;
    const counted = isFull && counts[id] === undefined ? OTHER_EXCHANGES : id;
    counts[counted] = (counts[counted] ?? 0) + 1;
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

/** Returns the date in a file's name: 2026-08-03 in "wikidata-20260803-all.json.gz". '' if there is none. */
function dateIn(name: string): string {
  const [, ...parts] = /(20\d{2})-?([01]\d)-?([0-3]\d)/.exec(name) ?? [];
  return parts.join('-');
}
