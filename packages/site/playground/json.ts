import { element } from '@brand-data/client/source/dom';

/** A string, which a colon follows if it is a key, or a number, or a word. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null)/g;

/** Returns the JSON text indented and coloured. Text that is not JSON stays as it is. */
export function jsonView(body: string): HTMLElement {
  const text = indented(body);
  const code = element('code');
  let shown = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [token, string, colon, number] = match;
    const kind = string === undefined ? (number === undefined ? 'word' : 'number') : colon ? 'key' : 'string';
    code.append(
      text.slice(shown, match.index),
      element('span', { class: kind }, string ?? token),
      colon ?? '',
    );
    shown = match.index + token.length;
  }
  code.append(text.slice(shown));
  return element('pre', { class: 'json', tabindex: '0', 'aria-label': 'JSON' }, code);
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
