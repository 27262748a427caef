import { type Call, pathOf } from './exchange.ts';

export const LANGUAGES = ['curl', 'fetch', 'Python', 'Client'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A program that makes the call and prints its answer. */
export function snippetOf(language: Language, call: Call): string {
  return SNIPPETS[language](call);
}

const SNIPPETS: Record<Language, (call: Call) => string> = {
  curl: (call) => `curl '${urlOf(call)}'`,
  fetch: (call) => `const response = await fetch(${quoted(urlOf(call))});
console.log(response.status, await response.json());`,
  Python: (call) => `import httpx

response = httpx.get(
    ${quoted(call.api + pathOf(call))},
    params={"token": ${quoted(call.token)}},
)
print(response.status_code, response.json())`,
  Client: (call) => `import { BrandData } from '@brand-data/client';

const client = new BrandData({
  api: ${quoted(call.api)},
  token: ${quoted(call.token)},
});
const { data } = await client.${call.variant === 'grouped' ? 'brand' : 'logo'}(${quoted(call.identifier.toWellFormed())});
console.log(data);`,
};

function urlOf(call: Call): string {
  return `${call.api}${pathOf(call)}?token=${encodeURIComponent(call.token.toWellFormed()).replaceAll("'", '%27')}`;
}

/** A string of JavaScript and of Python: both have the escapes of JSON. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
