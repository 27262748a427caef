import { escapeHtml, Html, type HtmlPart, html } from '@brand-data/runtime/html';
import { codeBlock, contents, fieldList, heading, list } from '@brand-data/site';
import type { Header, OpenApi, Operation, Parameter, ResponseObject, Schema } from '../openapi/types.ts';

/**
 * Returns the reference of the API. It is made from the document that the gateway serves, so the two cannot differ.
 *
 * @param description the OpenAPI document
 * @param api the base URL of calls in examples
 */
export function referenceSections(description: string, api: string): Html {
  const document: OpenApi = JSON.parse(description);
  const { tags, paths, components } = document;
  const operations = Object.entries(paths).map(([path, { get }]) => ({ path, operation: get }));
  const byTag = tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const linksTo = (kind: string, names: object) =>
    Object.keys(names).map((name) => linkTo(`${kind}-${name}`, codeOf(name)));
  const sections: [name: string, links: Html[]][] = [
    ...byTag.map(({ name, operations }): [string, Html[]] => [
      name,
      operations.map(({ path, operation }) => linkTo(operation.operationId, codeOf(path))),
    ]),
    ['Schemas', linksTo('schema', components.schemas)],
    ['Headers', linksTo('header', components.headers)],
  ];
  const links = sections.map(
    ([name, links]) =>
      html`<div class="group"><p>${linkTo(name.toLowerCase(), name)}</p>${list(links)}</div>\n`,
  );
  return html`${contents('On this page', links)}
${paragraphs(document.info.description)}
${paragraphs(`\`token\` in the query of each call: ${components.securitySchemes.token.description}`)}
${byTag.map(
  ({ name, description, operations }) =>
    html`${heading(2, name.toLowerCase(), name)}${paragraphs(description)}${operations.map(
      ({ path, operation }) => operationSection(path, operation, api),
    )}\n`,
)}${heading(2, 'schemas', 'Schemas')}<p>The bodies of answers, and their parts. “always” marks a field that every such object has.</p>
${Object.entries(components.schemas).map(([name, schema]) => schemaSection(name, schema))}
${heading(2, 'headers', 'Headers')}<p>The headers of answers. Each status above lists those that it has.</p>
${Object.entries(components.headers).map(([name, header]) => headerSection(name, header, sentAs(name, operations)))}`;
}

/** Relative to the reference. */
const ERRORS_PAGE = 'errors';
/** From the reference and from the page of errors. */
const ROOT = '../';

const linkTo = (id: string, content: HtmlPart) => html`<a href="#${id}">${content}</a>`;
const nameIn = ({ $ref }: { $ref: string }) => $ref.slice($ref.lastIndexOf('/') + 1);
const joined = (parts: readonly HtmlPart[], separator: HtmlPart): HtmlPart =>
  parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]));

function operationSection(
  path: string,
  { operationId, summary, description, parameters = [], responses }: Operation,
  api: string,
): Html {
  // The security scheme requires the token. As a parameter it is optional, for the sake of generators.
  const needed = parameters.filter(
    ({ name, in: place, required }) => name === 'token' || (place === 'query' && required),
  );
  const query = needed.map(({ name }) => `${name}=${exampleOf(parameters, name)}`).join('&');
  const shown = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(exampleOf(parameters, name)));
  return html`<section class="operation" aria-labelledby="${operationId}">
${heading(3, operationId, codeOf(`GET ${path}`))}<p><strong>${inline(summary)}.</strong></p>
${paragraphs(description)}
${codeBlock(`curl "${api}${shown}${query && `?${query}`}"`, 'sh', ROOT)}
${parameterList(parameters)}
${Object.entries(responses).map(([status, response]) => responseSection(operationId, status, response))}
</section>\n`;
}

function exampleOf(parameters: readonly Parameter[], name: string): unknown {
  const { example, examples = {} } = parameters.find((parameter) => parameter.name === name) ?? {};
  return example ?? Object.values(examples)[0]?.value;
}

function parameterList(parameters: readonly Parameter[]): HtmlPart {
  if (parameters.length === 0) return undefined;
  return fieldList(
    parameters.map(({ name, in: place, required = false, description, schema, example, examples }) => ({
      name: codeOf(name),
      type: `${place}${required ? ', required' : ''}`,
      meaning: [inline(description), ' ', limitsOf(schema)],
      example: examplesOf(
        examples ? Object.values(examples).map(({ value }) => String(value)) : [String(example)],
      ),
    })),
  );
}

function examplesOf(texts: readonly string[]): HtmlPart {
  return texts.length === 0 ? undefined : html`<small>For example</small> ${joined(texts.map(codeOf), ' ')}`;
}

function responseSection(
  operationId: string,
  status: string,
  { description, headers = {}, content = {} }: ResponseObject,
): Html {
  const id = `${operationId}-${status}`;
  const names = Object.entries(headers).map(([name, reference]) =>
    linkTo(`header-${nameIn(reference)}`, codeOf(name)),
  );
  const bodies = Object.entries(content).map(([type, { schema, example, examples }]) => {
    const shown = Object.entries(examples ?? { '': { value: example } }).map(([name, { summary, value }]) => {
      const title = [name && codeOf(name), summary && inline(summary)].filter((part) => part);
      return html`<details><summary>${title.length > 0 ? joined(title, ': ') : 'Example'}</summary>\n${jsonBlock(value)}</details>\n`;
    });
    return html`<p>Body: ${codeOf(type)}, ${typeOf(schema)}.</p>\n${shown}\n`;
  });
  return html`<div class="status">
${heading(4, id, status)}${Number(status) < 400 ? paragraphs(description) : problemList(description)}
<p>Headers: ${joined(names, ', ')}.</p>
${bodies}
</div>\n`;
}

/** Each paragraph begins with an error code, which becomes a link. */
function problemList(description: string): Html {
  const items = description.split('\n\n').map((item) => {
    const { markup } = inline(item);
    const link = `<a href="${ERRORS_PAGE}#$1"><code>$1</code></a>`;
    return html`<li>${new Html(markup.replace(/^<code>(\w+)<\/code>/, link))}</li>\n`;
  });
  return html`<ul class="codes">${items}</ul>`;
}

function schemaSection(name: string, schema: Schema): Html {
  const { description = '', properties, required = [] } = schema;
  const fields = Object.entries(properties ?? {}).map(([field, value]) => ({
    name: codeOf(field),
    type: [typeOf(value), required.includes(field) ? ', always' : undefined],
    meaning: [inline(value.description ?? ''), ' ', limitsOf(value)],
    example: examplesOf((value.examples ?? []).map((example) => JSON.stringify(example))),
  }));
  return html`<section class="schema" aria-labelledby="schema-${name}">
${heading(3, `schema-${name}`, codeOf(name))}${paragraphs(description)}
${properties ? fieldList(fields) : html`<p>${typeOf(schema)}</p>`}
</section>\n`;
}

function headerSection(
  name: string,
  { description, required = false, schema, example }: Header,
  sent: string,
): Html {
  const presence = required ? 'Always there where it is listed.' : 'May be absent.';
  return html`<section class="schema" aria-labelledby="header-${name}">
${heading(3, `header-${name}`, codeOf(sent === name ? name : `${sent} (${name})`))}<p>${inline(description)} ${presence} ${limitsOf(schema)}</p>
<p>Example: ${codeOf(String(example))}</p>
</section>\n`;
}

/** Returns the name under which answers have the header. */
function sentAs(component: string, operations: readonly { operation: Operation }[]): string {
  for (const { operation } of operations)
    for (const { headers = {} } of Object.values(operation.responses))
      for (const [name, reference] of Object.entries(headers))
        if (nameIn(reference) === component) return name;
  return component;
}

/** Returns the type of a value, with links to schemas. */
function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) {
    const name = nameIn({ $ref: schema.$ref });
    return linkTo(`schema-${name}`, codeOf(name));
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choiceOf(choices.map(typeOf));
  if (schema.const !== undefined) return codeOf(JSON.stringify(schema.const));
  if (schema.enum) return choiceOf(schema.enum.map((value) => codeOf(JSON.stringify(value))));
  if (Array.isArray(schema.type)) return choiceOf(schema.type.map((type) => typeOf({ ...schema, type })));
  if (schema.type === 'array') return html`list of ${typeOf(schema.items ?? {})}`;
  return html`${schema.type ?? 'any'}`;
}

function choiceOf(types: readonly Html[]): Html {
  return new Html([...new Set(types.map(({ markup }) => markup))].join(' or '));
}

/** Returns the conditions that a value must satisfy in addition to its type, as a sentence. */
function limitsOf(schema: Schema): HtmlPart {
  const { format, pattern, minLength, maxLength, minimum, maximum, maxItems } = schema;
  const limits: HtmlPart[] = [
    format !== undefined && ['format ', codeOf(format)],
    pattern !== undefined && ['pattern ', codeOf(pattern)],
    maxLength !== undefined && `${minLength ?? 0} to ${maxLength} characters`,
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && `at most ${maximum}`,
    maxItems !== undefined && `at most ${maxItems} items`,
  ].filter((limit) => limit !== false);
  if (limits.length === 0) return undefined;
  const text = html`${joined(limits, ', ')}`.markup;
  return html`<small>${new Html(text.charAt(0).toUpperCase() + text.slice(1))}.</small>`;
}

/** Returns a text in which `code` is between backticks. */
export function inline(text: string): Html {
  return new Html(escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>'));
}

/** Paragraphs, with an empty line between two of them. */
function paragraphs(text: string): Html {
  return html`${text.split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>\n`)}`;
}

export const codeOf = (text: string): Html => html`<code>${text}</code>`;

/** Strings, and whether they are names; then other values. */
const JSON_PARTS =
  /(&quot;(?:\\&quot;|\\.|(?!&quot;).)*&quot;)(:?)|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*/g;

/** Returns a value as indented JSON, whose parts have the classes of highlight.js. */
export function jsonBlock(value: unknown): Html {
  const text = JSON.stringify(value, null, 2);
  const marked = escapeHtml(text).replaceAll(JSON_PARTS, (part, string, colon) => {
    if (string === undefined) return `<span class="hljs-number">${part}</span>`;
    return `<span class="hljs-${colon ? 'attr' : 'string'}">${string}</span>${colon}`;
  });
  return codeBlock(text, 'json', ROOT, new Html(marked));
}
