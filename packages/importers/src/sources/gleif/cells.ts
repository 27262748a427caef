import { isObject } from '../../formats/json-table.ts';

/** A record's values by the names that GLEIF's CSV files give their columns: "Entity.HeadquartersAddress.City". */
export type Cells = ReadonlyMap<string, string>;

/** In JSON, an object of this name is around each relationship. */
const WRAPPER = 'RelationshipRecord';
/** More than any list of names or addresses has. The CSV files have five. */
const MOST_ITEMS = 30;

/**
 * Returns the values of a record in JSON. A value is in an object, as "$", with the language and the type of a name beside it
 * ("@xml:lang", "@type"). The items of a list have numbers from 1.
 */
export function cellsOf(record: unknown): Cells {
  const cells = new Map<string, string>();
  addCells(cells, '', record);
  return cells;
}

function addCells(cells: Map<string, string>, path: string, value: unknown): void {
  if (typeof value === 'string') cells.set(path, value);
  else if (Array.isArray(value))
    for (const [index, item] of value.slice(0, MOST_ITEMS).entries())
      addCells(cells, `${path}.${index + 1}`, item);
  else if (isObject(value))
    for (const [name, below] of Object.entries(value)) addCells(cells, columnOf(path, name), below);
}

function columnOf(path: string, name: string): string {
  if (name === '$' || name === WRAPPER) return path;
  const column = name === '@xml:lang' ? 'xmllang' : name.replace('@', '');
  return path === '' ? column : `${path}.${column}`;
}

/** Yields the items of a list that have one of these values: "Entity.SuccessorEntity.1". Without values, the items are texts. */
export function* itemsOf(cells: Cells, list: string, values: readonly string[] = ['']): Generator<string> {
  for (let number = 1; number <= MOST_ITEMS; number++) {
    const item = `${list}.${number}`;
    const found = values.map((value) => cells.get(item + value));
    if (found.every((text) => text === undefined)) return;
    if (found.some((text) => text)) yield item;
  }
}
