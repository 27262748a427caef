import { codeOf, escapeHtml, inline, jsonBlock, paragraphs, table } from './html.ts';

interface Schema {
  $ref?: string;
  description?: string;
  type?: string;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  enum?: readonly unknown[];
  const?: unknown;
  examples?: readonly unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
}
interface Example {
  summary?: string;
  value: unknown;
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description: string;
  schema: Schema;
  example?: unknown;
  examples?: Record<string, Example>;
}
interface ResponseObject {
  description: string;
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, { schema: Schema; example?: unknown; examples?: Record<string, Example> }>;
}
interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: readonly string[];
  security?: readonly [];
  parameters?: readonly Parameter[];
  responses: Record<string, ResponseObject>;
}
interface Header {
  description: string;
  required?: boolean;
  schema: Schema;
  example: unknown;
}
interface Document {
  info: { description: string };
  tags: readonly { name: string; description: string }[];
  paths: Record<string, { get: Operation }>;
  components: {
    securitySchemes: { token: { description: string } };
    headers: Record<string, Header>;
    schemas: Record<string, Schema>;
  };
}

/**
 * The reference of the API, as HTML. It is made from the document that the gateway serves, so the two cannot differ.
 *
 * @param description the OpenAPI document
 * @param options.api the base URL of calls in examples
 * @param options.errorsPage the page of errors, relative to the reference
 */
export function referenceOf(description: string, options: { api: string; errorsPage: string }): string {
  const document: Document = JSON.parse(description);
  const { tags, paths, components } = document;
  const operations = Object.entries(paths).map(([path, { get }]) => ({ path, operation: get }));
  const byTag = tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const list = (links: readonly string[]) => `<ul>${links.map((link) => `<li>${link}</li>`).join('')}</ul>`;
  const sections = [
    ...byTag.map(
      ({ name, operations }) =>
        [name, operations.map(({ path, operation }) => linkTo(operation.operationId, codeOf(path)))] as const,
    ),
    [
      'Schemas',
      Object.keys(components.schemas).map((name) => linkTo(`schema-${name}`, codeOf(name))),
    ] as const,
    [
      'Headers',
      Object.keys(components.headers).map((name) => linkTo(`header-${name}`, codeOf(name))),
    ] as const,
  ];
  return [
    `<nav class="contents" aria-label="On this page">${sections
      .map(
        ([name, links]) => `<div><p>${linkTo(name.toLowerCase(), escapeHtml(name))}</p>${list(links)}</div>`,
      )
      .join('\n')}</nav>`,
    paragraphs(document.info.description),
    paragraphs(`\`token\` in the query of each call: ${components.securitySchemes.token.description}`),
    ...byTag.map(
      ({ name, description, operations }) =>
        `${heading(2, name.toLowerCase(), escapeHtml(name))}${paragraphs(description)}${operations
          .map((each) => operationSection(each.path, each.operation, components, options))
          .join('\n')}`,
    ),
    `${heading(2, 'schemas', 'Schemas')}<p>The bodies of answers, and their parts. “always” marks a field that every such object has.</p>`,
    ...Object.entries(components.schemas).map(([name, schema]) => schemaSection(name, schema)),
    `${heading(2, 'headers', 'Headers')}<p>The headers of answers. Each status above lists those that it has.</p>`,
    ...Object.entries(components.headers).map(([name, header]) =>
      headerSection(name, header, sentAs(name, operations)),
    ),
  ].join('\n');
}

const linkTo = (id: string, html: string) => `<a href="#${id}">${html}</a>`;
const heading = (level: number, id: string, html: string) =>
  `<h${level} id="${id}"><a href="#${id}">${html}</a></h${level}>\n`;
const nameIn = ({ $ref }: { $ref: string }) => $ref.slice($ref.lastIndexOf('/') + 1);

function operationSection(
  path: string,
  { operationId, summary, description, security, parameters = [], responses }: Operation,
  { securitySchemes }: Document['components'],
  { api, errorsPage }: { api: string; errorsPage: string },
): string {
  const needsToken = security === undefined;
  const shown = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(exampleOf(parameters, name)));
  const call = `curl "${api}${shown}${needsToken ? '?token=pk_…' : ''}"`;
  const token: Parameter[] = needsToken
    ? [
        {
          name: 'token',
          in: 'query',
          required: true,
          schema: { type: 'string' },
          example: 'pk_…',
          description: securitySchemes.token.description,
        },
      ]
    : [];
  return `<section class="operation" aria-labelledby="${operationId}">
${heading(3, operationId, `<code>GET ${escapeHtml(path)}</code>`)}<p><strong>${inline(summary)}.</strong></p>
${paragraphs(description)}
<pre tabindex="0" role="group" aria-label="Example in a shell"><code class="language-sh">${escapeHtml(call)}
</code></pre>
${parameterTable(operationId, [...token, ...parameters])}
${Object.entries(responses)
  .map(([status, response]) => responseSection(operationId, status, response, errorsPage))
  .join('\n')}
</section>`;
}

function exampleOf(parameters: readonly Parameter[], name: string): unknown {
  const { example, examples = {} } = parameters.find((parameter) => parameter.name === name) ?? {};
  return example ?? Object.values(examples)[0]?.value;
}

function parameterTable(operationId: string, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(
    ({ name, in: place, required = false, description, schema, example, examples }) => {
      const values = examples ? Object.values(examples).map(({ value }) => value) : [example];
      return [
        codeOf(name),
        `${place}${required ? ', required' : ''}`,
        `${inline(description)} ${limitsOf(schema)}`.trim(),
        values.map((value) => codeOf(String(value))).join('<br>'),
      ];
    },
  );
  return table(`Parameters of ${operationId}`, ['parameter', 'in', 'meaning', 'example'], rows);
}

function responseSection(
  operationId: string,
  status: string,
  { description, headers = {}, content = {} }: ResponseObject,
  errorsPage: string,
): string {
  const id = `${operationId}-${status}`;
  const names = Object.entries(headers).map(
    ([name, reference]) => `<a href="#header-${nameIn(reference)}">${codeOf(name)}</a>`,
  );
  const bodies = Object.entries(content).map(([type, { schema, example, examples = {} }]) => {
    const all = example === undefined ? Object.entries(examples) : [['', { value: example }] as const];
    const shown = all.map(([name, { summary, value }]: readonly [string, Example]) => {
      const title =
        [name && codeOf(name), summary && inline(summary)].filter(Boolean).join(': ') || 'Example';
      const label = [name, summary].filter(Boolean).join(': ') || `Example of ${operationId}`;
      return `<details><summary>${title}</summary>\n${jsonBlock(value, label)}</details>`;
    });
    return `<p>Body: ${codeOf(type)}, ${typeOf(schema)}.</p>\n${shown.join('\n')}`;
  });
  const text = Number(status) < 400 ? paragraphs(description) : problemList(description, errorsPage);
  return `<section class="status" aria-labelledby="${id}">
${heading(4, id, escapeHtml(status))}${text}
<p>Headers: ${names.join(', ')}.</p>
${bodies.join('\n')}
</section>`;
}

/** Each paragraph begins with an error code, which becomes a link. */
function problemList(description: string, errorsPage: string): string {
  const items = description
    .split('\n\n')
    .map(
      (item) =>
        `<li>${inline(item).replace(/^<code>(\w+)<\/code>/, `<a href="${errorsPage}#$1"><code>$1</code></a>`)}</li>`,
    );
  return `<ul class="codes">${items.join('\n')}</ul>`;
}

function schemaSection(name: string, schema: Schema): string {
  const { description = '', properties, required = [] } = schema;
  const text = paragraphs(description);
  const body = properties
    ? table(
        `Fields of ${name}`,
        ['field', 'type', 'meaning', 'example'],
        Object.entries(properties).map(([field, value]) => [
          codeOf(field),
          `${typeOf(value)}${required.includes(field) ? '<br><small>always</small>' : ''}`,
          `${inline(value.description ?? '')} ${limitsOf(value)}`.trim(),
          (value.examples ?? []).map((example) => codeOf(JSON.stringify(example))).join('<br>'),
        ]),
      )
    : `<p>${typeOf(schema)}</p>`;
  return `<section class="schema" aria-labelledby="schema-${name}">
${heading(3, `schema-${name}`, codeOf(name))}${text}
${body}
</section>`;
}

function headerSection(
  name: string,
  { description, required = false, schema, example }: Header,
  sent: string,
): string {
  const presence = required ? 'Always there where it is listed.' : 'May be absent.';
  return `<section class="schema" aria-labelledby="header-${name}">
${heading(3, `header-${name}`, codeOf(sent === name ? name : `${sent} (${name})`))}<p>${inline(description)} ${presence} ${limitsOf(schema)}</p>
<p>Example: ${codeOf(String(example))}</p>
</section>`;
}

/** The name under which answers have the header. */
function sentAs(component: string, operations: readonly { operation: Operation }[]): string {
  for (const { operation } of operations)
    for (const { headers = {} } of Object.values(operation.responses))
      for (const [name, reference] of Object.entries(headers))
        if (nameIn(reference) === component) return name;
  return component;
}

/** The type of a value, as HTML, with links to schemas. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = nameIn({ $ref: schema.$ref });
    return `<a href="#schema-${name}">${codeOf(name)}</a>`;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(' or ');
  if (schema.const !== undefined) return codeOf(JSON.stringify(schema.const));
  if (schema.enum) return schema.enum.map((value) => codeOf(JSON.stringify(value))).join(' or ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  return escapeHtml(schema.type ?? 'any');
}

/** What a value must satisfy in addition to its type, as a sentence. */
function limitsOf(schema: Schema): string {
  const { format, pattern, minLength, maxLength, minimum, maximum, maxItems } = schema;
  const limits = [
    format !== undefined && `format ${codeOf(format)}`,
    pattern !== undefined && `pattern ${codeOf(pattern)}`,
    maxLength !== undefined && `${minLength ?? 0} to ${maxLength} characters`,
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && `at most ${maximum}`,
    maxItems !== undefined && `at most ${maxItems} items`,
  ].filter((limit) => limit !== false);
  if (limits.length === 0) return '';
  const text = limits.join(', ');
  return `<small>${text.charAt(0).toUpperCase()}${text.slice(1)}.</small>`;
}
