import { DOMParser, type Element, type Node, onErrorStopParsing } from '@xmldom/xmldom';

/**
 * The elements that a stored SVG may have. This list is written down again here, so that a mistake in the sanitizer's list is
 * found.
 */
const ELEMENTS = new Set(
  `svg g defs symbol switch use style text tspan textPath path rect circle ellipse line polyline polygon clipPath mask
  pattern marker linearGradient radialGradient stop filter feBlend feColorMatrix feComponentTransfer feComposite
  feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feOffset`.split(
    /\s+/,
  ),
);
const SVG = 'http://www.w3.org/2000/svg';

/**
 * Returns the dangers of an SVG, which a different parser than the service's finds. The list is empty if the SVG is safe. A text
 * that is not well-formed XML is unsafe.
 */
export function dangersOf(text: string): string[] {
  const dangers: string[] = [];
  if (/<!|<\?/.test(text)) dangers.push('a declaration, comment or processing instruction');
  const parser = new DOMParser({ onError: onErrorStopParsing });
  let root: Element | null;
  try {
    root = parser.parseFromString(text, 'image/svg+xml').documentElement;
  } catch (error) {
    return [...dangers, `not well-formed: ${error}`];
  }
  if (root?.localName !== 'svg') dangers.push('the root is not svg');
  for (const element of elementsBelow(root)) {
    if (!ELEMENTS.has(element.tagName)) dangers.push(`element ${element.tagName}`);
    if (element.namespaceURI !== SVG) dangers.push(`namespace ${element.namespaceURI}`);
    for (const { name, value } of Array.from(element.attributes)) {
      if (/^on|^xlink|^xml:base$|^xmlns:/i.test(name)) dangers.push(`attribute ${name}`);
      if (/href/i.test(name) && !/^#[^\s]+$/.test(value)) dangers.push(`${name}="${value}"`);
      if (name !== 'xmlns') dangers.push(...dangersOfCss(value));
    }
    if (element.tagName === 'style') dangers.push(...dangersOfCss(element.textContent ?? ''));
  }
  return dangers;
}

function dangersOfCss(css: string): string[] {
  const dangers: string[] = [];
  // An escape could hide any of the dangers that are searched for below.
  if (css.includes('\\')) dangers.push(`an escape in ${css}`);
  if (/javascript:|data:|https?:|@import|expression|behaviou?r|-moz-binding/i.test(css)) dangers.push(css);
  for (const [, target = ''] of css.matchAll(/url\(\s*["']?([^)]*)/gi))
    if (!target.startsWith('#')) dangers.push(`url(${target})`);
  return dangers;
}

function* elementsBelow(node: Node | null): Generator<Element> {
  if (node === null) return;
  if (node.nodeType === 1) yield node as Element;
  for (let child = node.firstChild; child !== null; child = child.nextSibling) yield* elementsBelow(child);
}
