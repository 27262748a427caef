/** Names are without prefixes, and `href` also means `xlink:href`. */
export interface SvgElement {
  name: string;
  attributes: Map<string, string>;
  /** Text is kept only in elements that draw text, and in `style`. */
  children: (SvgElement | string)[];
}

export const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

export function svgElement(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  children: (SvgElement | string)[] = [],
): SvgElement {
  const entries = Object.entries(attributes).map(([key, value]) => [key, String(value)] as const);
  return { name, attributes: new Map(entries), children };
}

/** Yields all elements below and with `root`, in the order of the document. */
export function* elementsOf(root: SvgElement): Generator<SvgElement> {
  const left: SvgElement[] = [root];
  for (let element = left.pop(); element !== undefined; element = left.pop()) {
    yield element;
    for (const child of element.children.toReversed()) if (typeof child !== 'string') left.push(child);
  }
}

export function svgText({ name, attributes, children }: SvgElement): string {
  const head = [name, ...[...attributes].map(([key, value]) => `${key}="${escapeText(value)}"`)].join(' ');
  if (children.length === 0) return `<${head}/>`;
  const body = children.map((child) => (typeof child === 'string' ? escapeText(child) : svgText(child)));
  return `<${head}>${body.join('')}</${name}>`;
}

export function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
