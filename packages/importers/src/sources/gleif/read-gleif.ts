import { tmpdir } from 'node:os';
import { Brand } from '@brand-data/contracts';
import { identityOf, isIsin, isLei, kindOf, publishedName } from '@brand-data/identifiers';
import { nameOfContent, sizeOf } from '../../formats/content.ts';
import { JSON_FILE } from '../../formats/json.ts';
import { readJsonObjects } from '../../formats/json-objects.ts';
import type { TableRow } from '../../formats/json-table.ts';
import { readEach } from '../../formats/lines.ts';
import { NoTable, openTable } from '../../formats/table.ts';
import type { BytesRead, ReadItem, Skipped, Unreadable } from '../../framework/source-items.ts';
import { cellsOf } from './cells.ts';
import { type EntityFacts, entityOf } from './entity.ts';
import { type Level, SideStore } from './side-store.ts';

const GLEIF = { name: 'GLEIF', licence: 'CC0-1.0' } as const;
const LEVELS: ReadonlyMap<string, Level> = new Map([
  ['IS_DIRECTLY_CONSOLIDATED_BY', 'direct'],
  ['IS_ULTIMATELY_CONSOLIDATED_BY', 'ultimate'],
]);
/** Names of files that have only the entities that have changed. */
const DELTA = /lei2?-(?:intra-day|last-day|last-week|last-month)/;

export interface GleifOptions {
  /** Whether only entities that join a company are wanted, so that names must be unique among all entities of GLEIF. */
  onlyJoining?: boolean;
  /**
   * The identifiers of the catalogue's companies. An entity states the first of its securities' ISINs that is among them. It states no
   * other, because most of an issuer's ISINs are those of bonds and certificates.
   */
  known?: AsyncIterable<string>;
  /** The folder for temporary files: 1 GB for the whole golden copy. */
  workDir?: string;
  /** All records are yielded after the last file is read. */
  progress?: BytesRead | undefined;
  /** Aborting it ends the reading. No further records are yielded. */
  signal?: AbortSignal | undefined;
}

/**
 * Yields the companies among the entities of GLEIF's files, with their parents and subsidiaries. The files are golden copies and
 * deltas of entities and of relationships, and the map of ISINs. README.md describes them. A record in a later file replaces that in
 * an earlier one.
 */
export async function* readGleif(
  files: readonly string[],
  { onlyJoining, progress, signal, known, workDir = tmpdir() }: GleifOptions = {},
): AsyncGenerator<ReadItem<Brand> | Skipped> {
  if (progress !== undefined) progress.total = await sizeOf(files);
  using store = new SideStore(workDir);
  for await (const identifier of known ?? []) if (isIsin(identifier)) store.addKnownIsin(identifier);
  for (const file of files)
    for await (const read of recordsOf(file, progress)) {
      if (signal?.aborted) return;
      const passed = 'problem' in read ? read : stored(read, store);
      if (passed !== undefined) yield passed;
    }
  if (signal?.aborted) return;
  store.index();
  const isPartial = await haveDeltasOnly(files);
  for (const entity of store.entities()) {
    if (signal?.aborted) return;
    const { from, isActive, nameKey } = entity;
    const others = nameKey === null ? 0 : store.activeOfName(nameKey) - Number(isActive);
    if (!isActive && others > 0) yield { from, skipped: 'it is inactive, and an active entity has its name' };
    else if (onlyJoining && (isPartial || others > 0))
      yield { from, item: { ...brandOf(entity, store), hasNamesakes: true } };
    else yield { from, item: brandOf(entity, store) };
  }
}

/** Checks whether the files are deltas, which lack the entities that have not changed. GLEIF's names of files say so. */
export async function haveDeltasOnly(files: readonly string[]): Promise<boolean> {
  const names = await Promise.all(files.map(nameOfContent));
  const isGolden = (name: string) => /lei2?-golden-copy/.test(name);
  return names.some((name) => DELTA.test(name)) && !names.some(isGolden);
}

async function* recordsOf(
  file: string,
  progress: BytesRead | undefined,
): AsyncGenerator<TableRow | Unreadable> {
  if (JSON_FILE.test(await nameOfContent(file))) {
    const objects = readJsonObjects(file, progress);
    return yield* readEach(objects, ({ from, value, raw }) => ({ from, cells: cellsOf(value), raw }));
  }
  try {
    await using table = await openTable(file, { progress });
    yield* table.rows;
  } catch (error) {
    if (!(error instanceof NoTable)) throw error;
    yield { from: error.from, problem: error.problem };
  }
}

/** Stores what a record states. Returns why it states nothing. */
function stored({ from, cells, raw }: TableRow, store: SideStore): Unreadable | Skipped | undefined {
  const cell = (name: string) => cells.get(name)?.trim() ?? '';
  if (cells.has('Entity.LegalName')) {
    const entity = entityOf(from, cells);
    if ('lei' in entity) store.addEntity(entity, nameKeyOf(entity));
    else if ('skipped' in entity) store.removeEntity(cell('LEI'));
    return 'lei' in entity ? undefined : { from, raw, ...entity };
  }
  if (cells.has('Relationship.StartNode.NodeID')) {
    const [child, parent] = [cell('Relationship.StartNode.NodeID'), cell('Relationship.EndNode.NodeID')];
    const level = LEVELS.get(cell('Relationship.RelationshipType'));
    if (level === undefined) return undefined;
    if (cell('Relationship.RelationshipStatus') === 'ACTIVE') store.addParent(child, level, parent);
    else store.removeParent(child, level);
    return undefined;
  }
  const isin = cell('ISIN');
  if (!isIsin(isin))
    return {
      from,
      raw,
      problem: 'it is neither an entity nor a relationship of GLEIF, nor an LEI with an ISIN',
    };
  store.addIsin(cell('LEI'), isin);
  return undefined;
}

/** Returns what the catalogue compares of a name, when it looks for records with one name in one country. */
function nameKeyOf({ name, headquarters }: EntityFacts): string | undefined {
  const { keys } = identityOf(Brand.fromPartial({ name, company: { headquarters } }));
  return keys.find((key) => kindOf(key) === 'named');
}

function brandOf(entity: EntityFacts, store: SideStore): Brand {
  const { lei, name, names, formerly, headquarters, ended, date } = entity;
  const parents = store.parentsOf(lei);
  const subsidiaries = store.subsidiariesOf(lei);
  const isin = store.knownIsinOf(lei);
  return Brand.fromPartial({
    id: `lei-${lei.toLowerCase()}`,
    name,
    names,
    lei,
    company: { headquarters },
    ownership: { parentCompany: published(parents), subsidiaries: published(subsidiaries) },
    history: {
      formerly,
      // A successor whose record is in no file has an LEI for a name.
      successor: published(
        entity.successors.map((other) => store.nameOf(other) ?? other).filter((text) => !isLei(text)),
      ),
      ceasedOperations: entity.isActive || ended === '' ? [] : [ended],
    },
    ...(isin !== undefined && { stock: { isin } }),
    sources: [{ ...GLEIF, url: `https://search.gleif.org/#/record/${lei}`, date }],
  });
}

function published(names: readonly string[]): string[] {
  return [...new Set(names.map(publishedName))];
}
