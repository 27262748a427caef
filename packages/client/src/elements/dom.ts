/** Makes an element with attributes and children. Texts become text nodes, so no data is ever read as HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}

const sheets = new Map<string, CSSStyleSheet>();

/** Returns the style sheet that all shadow roots with these styles share. A content security policy without inline styles allows it. */
export function styleSheet(css: string): CSSStyleSheet {
  const known = sheets.get(css);
  if (known !== undefined) return known;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  sheets.set(css, sheet);
  return sheet;
}

/**
 * Returns the URL of a link or an image in a record, if a page may use it: one with https, or one of the machine that serves the
 * API, so that a service on http works too.
 */
export function safeUrl(text: string | null | undefined, api: string): URL | undefined {
  if (text == null || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const service = new URL(api);
  const isOfService = url.protocol === service.protocol && url.hostname === service.hostname;
  return url.protocol === 'https:' || isOfService ? url : undefined;
}
