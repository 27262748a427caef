/** The parts of JSON Schema that the records' schemas use. */
export interface FieldSchema {
  type?: string;
  const?: string;
  title?: string;
  description?: string;
  examples?: unknown[];
  properties?: Record<string, FieldSchema>;
  items?: FieldSchema;
  anyOf?: FieldSchema[];
}

/** Returns every field that a record of this schema may have, at every depth, with its path: "company.key_people.name". */
export function fieldsOf(
  schema: object,
  within = '',
): { path: string; schema: FieldSchema; holdsFields: boolean }[] {
  return objectsOf(schema).flatMap(({ properties = {} }) =>
    Object.entries(properties).flatMap(([name, field]) => {
      const path = `${within}${name}`;
      const holdsFields = objectsOf(field).length > 0;
      return [{ path, schema: field, holdsFields }, ...fieldsOf(field, `${path}.`)];
    }),
  );
}

/** Returns the objects that a value of this schema may be, or that the list may hold. */
function objectsOf(schema: FieldSchema): FieldSchema[] {
  if (schema.properties) return [schema];
  return [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])].flatMap(objectsOf);
}

/** For every object in `value`, its keys and the keys in its schema, both in order. */
export function objectsWithSchemaKeys(
  value: unknown,
  schema: object,
): { keys: string[]; schemaKeys: string[] }[] {
  const { anyOf: options = [schema] }: FieldSchema = schema;
  if (Array.isArray(value)) {
    const items = options.find((option) => option.items)?.items ?? {};
    return value.flatMap((item) => objectsWithSchemaKeys(item, items));
  }
  if (typeof value !== 'object' || value === null) return [];
  const { type } = value as { type?: unknown };
  const properties =
    options.find((option) => option.properties && (option.properties.type?.const ?? type) === type)
      ?.properties ?? {};
  return [
    { keys: Object.keys(value), schemaKeys: Object.keys(properties) },
    ...Object.entries(value).flatMap(([key, field]) => objectsWithSchemaKeys(field, properties[key] ?? {})),
  ];
}

/** Every value in `value` that contains no other value: text, figures, true, false, null, undefined. */
export function leaves(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value];
}

/** Returns the value with every object's keys in the opposite order. */
export function reverseKeys<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reverseKeys) as T;
  if (typeof value !== 'object' || value === null) return value;
  const reversed = Object.entries(value)
    .reverse()
    .map(([key, field]) => [key, reverseKeys(field)]);
  return Object.fromEntries(reversed) as T;
}

/** Freezes the value, so that any attempt to change it throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}
