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

export interface Field {
  /** The path of the field, such as "company.key_people.name". */
  path: string;
  schema: FieldSchema;
  holdsFields: boolean;
}

/** Returns every field that a record of this schema may have, at every depth. */
export function fieldsOf(schema: object, within = ''): Field[] {
  return objectsOf(schema).flatMap(({ properties = {} }) =>
    Object.entries(properties).flatMap(([name, field]) => {
      const path = `${within}${name}`;
      return [
        { path, schema: field, holdsFields: objectsOf(field).length > 0 },
        ...fieldsOf(field, `${path}.`),
      ];
    }),
  );
}

/** Returns the objects that a value of this schema may be, or that the list may hold. */
function objectsOf(schema: FieldSchema): FieldSchema[] {
  if (schema.properties) return [schema];
  return [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])].flatMap(objectsOf);
}
