import type { Static, TObject, TSchema } from 'typebox';

/** Returns what a record shows of a value. Undefined if it has no data. */
type Show = (value: unknown) => unknown;

/**
 * Returns a function that shows a message: the fields of the schema, in its order, which the message has in camel case. At every
 * depth it leaves out fields without data and repeated items of lists. Blank texts, figures that are not finite, and empty lists and
 * objects are no data. 0 and false are data. The message must have some data.
 */
export function showing<Schema extends TObject>(schema: Schema): (message: object) => Static<Schema> {
  return showOf(schema) as (message: object) => Static<Schema>;
}

function showOf({ properties, items, anyOf }: TSchema & ShownSchema): Show {
  if (properties) return showFields(properties);
  if (items) return showItems(showOf(items));
  if (anyOf) return showOneOrMany;
  return showLeaf;
}

/** The parts of a schema by which values are shown. */
interface ShownSchema {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
}

function showFields(properties: Readonly<Record<string, TSchema>>): Show {
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    key: name.replace(/_([a-z0-9])/g, (_, first: string) => first.toUpperCase()),
    show: showOf(schema),
  }));
  return (message) => {
    const record: Record<string, unknown> = {};
    for (const { name, key, show } of fields) {
      const value = show(Object(message)[key]);
      if (value !== undefined) record[name] = value;
    }
    return isEmpty(record) ? undefined : record;
  };
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

function showItems(show: Show): Show {
  return (list) => {
    const items = new Map<string, unknown>();
    for (const item of Array.isArray(list) ? list.map(show) : []) {
      const key = typeof item === 'string' ? item : JSON.stringify(item);
      if (item !== undefined && !items.has(key)) items.set(key, item);
    }
    return items.size > 0 ? [...items.values()] : undefined;
  };
}

/** For fields of type "string or string[]": a single value is not put into a list. */
function showOneOrMany(list: unknown): unknown {
  const facts = showItems(showLeaf)(list) as unknown[] | undefined;
  return facts?.length === 1 ? facts[0] : facts;
}

function showLeaf(value: unknown): unknown {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return value ?? undefined;
}
