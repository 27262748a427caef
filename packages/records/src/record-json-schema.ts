import { PICTURE_FIELDS } from './fields.ts';
import { BrandRecord } from './record-schema.ts';

const typeIs = (...types: string[]) => ({ properties: { type: { enum: types } }, required: ['type'] });

const fileText = {
  type: 'string',
  pattern: '^(\\./|data:|simple-icons:|iconify:)',
  description:
    'a file beside the file of the record ("./acme.svg"), a data: URI, or an icon of Simple Icons ("simple-icons:acme") or of a set of Iconify ("iconify:logos/acme")',
};
/** The values that a picture's field may have in a file, in place of paths on the logo host. */
const pictureFile = {
  description:
    'a picture that the import stores in the service images, which then gives its path and its figures',
  anyOf: [
    fileText,
    {
      type: 'object',
      properties: { light: fileText, dark: { ...fileText, description: 'the form for dark pages' } },
      required: ['light'],
      additionalProperties: false,
    },
  ],
};

/** Returns the schema with another schema in the place of a property, by its dotted name. */
function withProperty(
  schema: JsonSchema,
  [name = '', ...rest]: readonly string[],
  replace: (old: JsonSchema) => JsonSchema,
): JsonSchema {
  const old = schema.properties?.[name] ?? {};
  const property = rest.length === 0 ? replace(old) : withProperty(old, rest, replace);
  return { ...schema, properties: { ...schema.properties, [name]: property } };
}

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  anyOf?: readonly object[];
}

/**
 * The format of records in files as a JSON Schema: record.schema.json. Includes the rules about which fields a `type` requires or
 * excludes. Unlike in a stored record, a picture may be a file: an import replaces it by the stored picture's paths.
 */
export const RECORD_JSON_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Brand record',
  description: 'One company, merchant or portfolio manager. Unknown fields are omitted.',
  ...Object.keys(PICTURE_FIELDS).reduce<JsonSchema>(
    (schema, field) => withProperty(schema, field.split('.'), (old) => ({ anyOf: [old, pictureFile] })),
    BrandRecord as object,
  ),
  allOf: [
    {
      if: typeIs('stock'),
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so.
      then: { required: ['listings'] },
    },
    {
      if: typeIs('brand', 'superinvestor'),
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so.
      then: { properties: { listings: false, stock: false } },
    },
    { if: typeIs('superinvestor'), else: { properties: { manager: false } } },
  ],
};
