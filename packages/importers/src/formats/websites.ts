import { isBlank } from './texts.ts';

/** A host with its port: labels with dots between them, the last with letters. It is in any script. */
const HOST =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}][\p{L}\p{M}\p{N}-]+\.?(?::\d{1,5})?$/u;
const SCHEME = /^https?:\/\//i;
/** A word of a text beside the website: "Visit www.acme.com (English)". */
const WORD = /^(?:[\p{L}\p{M}\p{N}'’-]*|[^\p{L}\p{N}]*)$/u;
const LONGEST_CELL = 5_000;
const SIGNS_AROUND = /^[([{<"'“‘]+|[)\]}>"'”’.,;:!]+$/gu;

/**
 * Reads the websites in a cell: each an address that a browser opens, with its scheme. They are separated by spaces, semicolons,
 * bars or commas, and words beside them are ignored. Returns why, if something is written like an address but is none.
 */
export function readWebsites(cell: string): string[] | { problem: string } {
  const shown = `"${cell.slice(0, 100)}"`;
  if (cell.length > LONGEST_CELL)
    return { problem: `${shown} is longer than a list of websites: shorten it` };
  const parts = cell
    .replace(/:\/\/\s+/g, '://')
    .split(/[\s;|]+|,(?=\s|$|https?:|(?!www,)[^\s/,]+\.[^\s/,]+)/i)
    .map((part) => part.replace(SIGNS_AROUND, ''))
    .filter((part) => !isBlank(part));
  const sites: string[] = [];
  for (const part of parts) {
    const address = SCHEME.test(part)
      ? part.replace(SCHEME, (scheme) => scheme.toLowerCase())
      : `https://${part}`;
    const [, authority = ''] = /^https?:\/\/([^/?#]*)/.exec(address) ?? [];
    const isSite = HOST.test(authority.replace(/^www\./i, '')) && URL.canParse(address);
    if (isSite) sites.push(address);
    else if (!WORD.test(part) || /^(?:www|https?)$/i.test(part)) return { problem: problemOf(part, shown) };
  }
  return sites.length > 0 ? [...new Set(sites)] : { problem: `${shown} is no web address` };
}

function problemOf(part: string, shown: string): string {
  if (/^[^/]*@/.test(part)) return `${shown} is an e-mail address, not a website: leave it out`;
  return `${shown} is no web address: correct it, such as https://www.example.com`;
}
