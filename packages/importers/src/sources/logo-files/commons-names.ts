import { basename } from 'node:path';

/**
 * Returns the keys of a file's name on Wikimedia Commons. Two names mean the same file if they have a key in common. Wikimedia
 * treats spaces and underscores as equal, and the first letter's case as well. A downloaded file may have its name
 * percent-encoded, as in its URL. A name that contains a percent sign may be written both ways, so it has two keys.
 */
export function commonsFileKeys(name: string): string[] {
  const file = basename(name);
  return [...new Set([file, percentDecoded(file)].map(keyOf))];
}

/** Returns the URL of the page about the file. */
export function commonsFileUrl(name: string): string {
  return `https://commons.wikimedia.org/wiki/File:${encodeURIComponent(name.replaceAll(' ', '_'))}`;
}

function keyOf(name: string): string {
  const text = name
    .normalize('NFC')
    .replace(/^(?:file|image):/i, '')
    .replace(/[\s_]+/g, ' ')
    .trim();
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
