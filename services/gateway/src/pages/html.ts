import { escapeHtml, Html, html } from '@brand-data/runtime/html';
import { codeBlock } from '@brand-data/site';

/** Returns a text in which `code` is between backticks. */
export function inline(text: string): Html {
  return new Html(escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>'));
}

/** Paragraphs, with an empty line between two of them. */
export function paragraphs(text: string): Html {
  return html`${text.split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>\n`)}`;
}

export const codeOf = (text: string): Html => html`<code>${text}</code>`;

/** Returns a value as indented JSON. */
export function jsonBlock(value: unknown, label: string): Html {
  return codeBlock(JSON.stringify(value, null, 2), 'json', label);
}
