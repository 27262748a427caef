import { EXAMPLE_LOGO_HOST } from '@brand-data/presenters';
// Its version grows when the description changes: the second number for what is new.
import description from './description.json' with { type: 'json' };
import { EXAMPLE_DOCS_URL, type Path, responsesOf } from './responses.ts';

export { EXAMPLE_DOCS_URL };

type ParameterName = keyof typeof description.parameters;

interface Addresses {
  /** The URL of the page of errors, for examples. */
  docsUrl: string;
  /** The base URL of images, for examples. */
  logoHost: string;
  /** The base URL of the API. Empty: unknown. The server's URL is relative then, which is right under every host and prefix. */
  publicUrl?: string;
  /** Where callers reach the operator: an e-mail address or a URL. Empty: unknown. */
  contact?: string;
  /** The URL of the terms of use. Empty: none. */
  termsUrl?: string;
}

/** Returns the OpenAPI document of the public API, as JSON. */
export function openApiDocument({ docsUrl, logoHost, publicUrl, contact, termsUrl }: Addresses): string {
  const { document, operations, securitySchemes, headers } = description;
  const servers = publicUrl ? [{ url: publicUrl }] : document.servers;
  const info = {
    ...document.info,
    ...(contact && { contact: URL.canParse(contact) ? { url: contact } : { email: contact } }),
    ...(termsUrl && { termsOfService: termsUrl }),
  };
  const { value: paths, schemas } = withComponents(
    Object.fromEntries(
      Object.entries(operations).map(([path, { problems: _, parameters, ...operation }]) => {
        const needsToken = !('security' in operation);
        const own = [...parameters, ...(needsToken ? ['token'] : [])].map(
          (name) => description.parameters[name as ParameterName],
        );
        return [path, { get: { ...operation, parameters: own, responses: responsesOf(path as Path) } }];
      }),
    ),
  );
  return JSON.stringify({
    ...document,
    info,
    servers,
    paths,
    components: { securitySchemes, headers, schemas },
  })
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
    const copy = published(
      Object.fromEntries(
        Object.entries(isNamed ? rest : node).map(([key, part]) => [
          key,
          DATA.has(key) ? part : replaced(part),
        ]),
      ),
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

/**
 * Returns a schema as generators of clients want it. Objects are open, because a later version may add fields, and a generated
 * client must not refuse them. "Text or null" is one type with two names and not a choice between two schemas.
 */
export function published({ additionalProperties: _, ...schema }: Node): Node {
  const { anyOf, ...about } = schema;
  const [choice, none, ...others] = (anyOf ?? []) as Node[];
  if (typeof choice?.type !== 'string' || none?.type !== 'null' || others.length > 0) return schema;
  return { ...choice, ...about, type: [choice.type, 'null'] };
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
