import { DOCS } from './pages.ts';

/** Returns what /llms.txt says to language models (https://llmstxt.org): what the API is, and where its pages are. */
export function llmsText(): string {
  const pages = DOCS.map(({ path, name, summary }) => `- [${name}](${path.slice(1)}.md): ${summary}`);
  return `# Brand Data Service

> An HTTP API that turns a ticker, a company name, a domain or a superinvestor's name into one JSON record of the company: logo,
> headquarters, people, ownership, links and market data.

- Grouped record: GET https://api.example.com/v1/brands/{identifier}?token=pk_…
- Flat record, always with a logo: GET https://api.example.com/api/logos/{identifier}/info?token=pk_…
- Logo as an image, for \`<img>\`: https://api.example.com/api/logos/{identifier}?token=pk_… leads to it (302).
- The identifier is one percent-encoded path segment. The token is a publishable token in the query, and nowhere else.
- 200, 302, 304 and 404 identifier_not_found are counted against the monthly quota of the account. Records may be cached for an hour.
- Errors are application/problem+json with a stable \`code\`. Nothing is matched by similar spelling: a 404 has suggestions.

## Docs

${pages.join('\n')}

## Machine-readable

- [OpenAPI 3.1](openapi.json): every operation, parameter, status, header and field.

## Try it

- [Playground](playground): makes a call in the browser, and shows it as code.
`;
}
