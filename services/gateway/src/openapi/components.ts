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
export function withComponents(value: unknown): { value: unknown; schemas: Record<string, unknown> } {
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
