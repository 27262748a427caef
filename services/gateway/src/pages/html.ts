export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** A text in which `code` is between backticks. */
export function inline(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** Paragraphs, with an empty line between two of them. */
export function paragraphs(text: string): string {
  return text
    .split('\n\n')
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('\n');
}

export const codeOf = (text: string): string => `<code>${escapeHtml(text)}</code>`;

/** A value as indented JSON, in a block that the keyboard can scroll. */
export function jsonBlock(value: unknown, label: string): string {
  const text = escapeHtml(JSON.stringify(value, null, 2));
  return `<pre tabindex="0" role="group" aria-label="${escapeHtml(label)}"><code class="language-json">${text}\n</code></pre>`;
}

/**
 * A table that the keyboard can scroll on narrow screens.
 *
 * @param rows cells as HTML
 */
export function table(
  label: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const head = columns.map((column) => `<th scope="col">${column}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n');
  return `<div class="scroll" tabindex="0" role="group" aria-label="${escapeHtml(label)}"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}
