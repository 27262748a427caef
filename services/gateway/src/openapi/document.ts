import { EXAMPLE_LOGO_HOST } from '@brand-data/presenters';
// Its version grows when the description changes: the second number for what is new.
import description from './description.json' with { type: 'json' };
import { EXAMPLE_DOCS_URL, type Path, responsesOf } from './responses.ts';

export { EXAMPLE_DOCS_URL };

type ParameterName = keyof typeof description.parameters;

/**
 * Returns the OpenAPI document of the public API, as JSON. Its server's URL is relative, so it is right under every host and prefix.
 *
 * @param docsUrl the URL of the page of errors, for examples
 * @param logoHost the base URL of images, for examples
 */
export function openApiDocument({ docsUrl, logoHost }: { docsUrl: string; logoHost: string }): string {
  const { document, operations, securitySchemes, headers } = description;
  const { value: paths, schemas } = withComponents(
    Object.fromEntries(
      Object.entries(operations).map(([path, { problems: _, parameters, ...operation }]) => {
        const own = parameters.map((name) => description.parameters[name as ParameterName]);
        return [path, { get: { ...operation, parameters: own, responses: responsesOf(path as Path) } }];
      }),
    ),
  );
  return JSON.stringify({ ...document, paths, components: { securitySchemes, headers, schemas } })
    .replaceAll(EXAMPLE_DOCS_URL, inJson(docsUrl))
    .replaceAll(EXAMPLE_LOGO_HOST, inJson(logoHost));
}

/** A text as it is inside a JSON string. A function as the replacement keeps `$` as it is. */
const inJson = (text: string) => () => JSON.stringify(text).slice(1, -1);

/** The parts of a JSON Schema, or of an object that holds schemas, that are read here. */
type Node = Readonly<Record<string, unknown>>;

/** Their values are data, not schemas. */
const DATA = new Set(['enum', 'const', 'example', 'examples', 'value']);

/**
 * Replaces each JSON Schema with a `title`, at any depth, by a reference to a component of this name. Code generators name their
 * types after components.
 *
 * @returns the value with references, and the components by name. Throws if two schemas that differ have one title
 */
function withComponents(value: unknown): { value: unknown; schemas: Record<string, unknown> } {
  const schemas = new Map<string, unknown>();

  const replaced = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(replaced);
    if (typeof node !== 'object' || node === null) return node;
    const { title, ...rest } = node as Node;
    const isNamed = typeof title === 'string';
    const copy = Object.fromEntries(
      Object.entries(isNamed ? rest : node).map(([key, part]) => [
        key,
        DATA.has(key) ? part : replaced(part),
      ]),
    );
    if (!isNamed) return copy;
    const schema = 'anyOf' in copy ? withDiscriminator(copy, node as Node) : copy;
    const known = schemas.get(title);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two schemas have the title ${title}`);
    schemas.set(title, schema);
    return { $ref: referenceTo(title) };
  };

  const result = replaced(value);
  return { value: result, schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

const referenceTo = (title: string) => `#/components/schemas/${title}`;

/** A named choice between objects with a constant `type` says so, because generated code then tells them apart. */
function withDiscriminator({ anyOf: oneOf, ...copy }: Node, { anyOf }: Node): Node {
  const mapping = (anyOf as { title: string; properties: { type: { const: string } } }[]).map(
    ({ title, properties }) => [properties.type.const, referenceTo(title)] as const,
  );
  return {
    ...copy,
    oneOf,
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(mapping) },
  };
}
