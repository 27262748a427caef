import { EXAMPLE_LOGO_HOST } from '@brand-data/presenters';
import { withComponents } from './components.ts';
import { HEADERS } from './headers.ts';
import { OPERATIONS } from './operations.ts';
import { EXAMPLE_DOCS_URL } from './problems.ts';

export { EXAMPLE_DOCS_URL };

/** The version of the API's description. It grows when the description changes: the second number for what is new. */
const VERSION = '1.0.0';

const INFO = {
  title: 'Brand Data Service',
  version: VERSION,
  summary: 'One identifier in, one company record out.',
  description: [
    'Give a ticker, a domain, a name or another identifier of a company, and get one record: what the company is, where it is, its logo and, for a listed company, its market data.',
    'Every call needs a publishable token in the query. It is safe to have in a page, because a key can be limited to origins.',
    'Errors are `application/problem+json` (RFC 9457) with a stable `code`.',
    'Each operation also answers HEAD, like GET without the body and counted like it, and OPTIONS, a CORS preflight that is never counted. Any other method gets 405 `method_not_allowed`, and any other path 404 `route_not_found`. Unknown query parameters are ignored.',
    'Later versions of the API may add fields to records and headers to answers. They remove none.',
  ].join('\n\n'),
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

const TAGS = [
  { name: 'Records', description: 'What is known of a company. These calls are counted.' },
  { name: 'Account', description: "The account's own figures. Never counted." },
  { name: 'Documents', description: 'What describes the API. Needs no token, and is never counted.' },
];

/**
 * Returns the OpenAPI document of the public API, as JSON. The server's URL in it is relative to the document's own, so that it is
 * right under every host and path prefix.
 *
 * @param docsUrl the URL of the page of errors, for examples
 * @param logoHost the base URL of images, for examples
 */
export function openApiDocument({ docsUrl, logoHost }: { docsUrl: string; logoHost: string }): string {
  const { value: paths, schemas } = withComponents(
    Object.fromEntries(Object.entries(OPERATIONS).map(([path, operation]) => [path, { get: operation }])),
  );
  const document = {
    openapi: '3.1.1',
    info: INFO,
    servers: [{ url: '.', description: 'The server that gave this document.' }],
    security: [{ token: [] }],
    tags: TAGS,
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'query',
          name: 'token',
          description:
            'A publishable token, which begins with `pk_`. It is read from the query alone, never from a header or a body.',
        },
      },
      headers: HEADERS,
      schemas,
    },
  };
  return JSON.stringify(document)
    .replaceAll(EXAMPLE_DOCS_URL, inJson(docsUrl))
    .replaceAll(EXAMPLE_LOGO_HOST, inJson(logoHost));
}

/** A text as it is inside a JSON string. A function as the replacement keeps `$` as it is. */
const inJson = (text: string) => () => JSON.stringify(text).slice(1, -1);
