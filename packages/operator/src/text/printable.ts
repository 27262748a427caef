/**
 * Control characters, except the newline, and the marks that change the direction of text. A terminal may obey them: they could
 * colour or hide text, or set the window's title. Half a character has no form that a terminal can show.
 */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Returns the text as a terminal may show it. Data of other people cannot control the terminal, because their control characters
 * are written as in JSON ("\\u001b"). A JSON document stays the same document.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => (character === '\n' ? character : escaped(character)));
}

/** The same for a text that must stay on one line. */
export function printableLine(text: string): string {
  return text.replace(UNSAFE, escaped);
}

function escaped(character: string): string {
  if (character === '\n') return '\\n';
  return character === '\t' ? '\\t' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
