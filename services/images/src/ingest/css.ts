import {
  type CssNode,
  type Declaration,
  generate,
  List,
  parse,
  type Rule,
  type StyleSheet,
  walk,
} from 'css-tree';
import { Refused } from './refused.ts';

/** The properties of paint, whose values are colours. */
export const COLOURS = new Set(['fill', 'stroke', 'color', 'stop-color', 'flood-color', 'lighting-color']);

/** The properties that drawings may use, in attributes and in CSS. */
export const PROPERTIES = new Set([
  ...COLOURS,
  ...['fill-rule', 'fill-opacity', 'stroke-width', 'stroke-linecap', 'stroke-linejoin', 'stroke-miterlimit'],
  ...['stroke-dasharray', 'stroke-dashoffset', 'stroke-opacity', 'opacity', 'stop-opacity', 'flood-opacity'],
  ...['clip-path', 'clip-rule', 'mask', 'mask-type', 'filter', 'marker', 'marker-start', 'marker-mid'],
  ...['marker-end', 'display', 'visibility', 'overflow', 'transform', 'transform-origin', 'paint-order'],
  ...['vector-effect', 'mix-blend-mode', 'isolation', 'color-interpolation', 'color-interpolation-filters'],
  ...['shape-rendering', 'text-rendering', 'font', 'font-family', 'font-size', 'font-style', 'font-variant'],
  ...['font-weight', 'font-stretch', 'text-anchor', 'text-decoration', 'letter-spacing', 'word-spacing'],
  ...[
    'writing-mode',
    'dominant-baseline',
    'alignment-baseline',
    'baseline-shift',
    'direction',
    'unicode-bidi',
  ],
]);

/** The functions that values may call besides url(#id), in lower case. */
const FUNCTIONS = new Set([
  ...['rgb', 'rgba', 'hsl', 'hsla', 'hwb', 'matrix', 'translate', 'translatex', 'translatey', 'scale'],
  ...['scalex', 'scaley', 'rotate', 'skewx', 'skewy'],
]);

const SELECTORS = new Set([
  ...['SelectorList', 'Selector', 'TypeSelector', 'ClassSelector', 'IdSelector', 'Combinator'],
]);

/** Characters of CSS in one drawing. */
const CSS_BOUND = 64 * 1024;

/** A reference to an element of the same document. */
export const LOCAL_REFERENCE = /^#[\p{L}\p{N}_.:-]+$/u;

/** Most values: names, numbers, colours as `#123456`. They need no parser. */
const PLAIN_VALUE = /^[\w\s#.,%+-]*$/;

/** Whether a value of a property refers to nothing outside the document, and calls only allowed functions. */
export function isSafeValue(value: string): boolean {
  if (PLAIN_VALUE.test(value)) return true;
  const tree = parsed(value, 'value');
  return tree !== undefined && isSafe(tree);
}

/** The allowed declarations of a `style` attribute. */
export function cleanDeclarations(text: string): string {
  const tree = parsed(text, 'declarationList');
  if (tree?.type !== 'DeclarationList') return '';
  tree.children = tree.children.filter(isAllowedDeclaration);
  return generate(tree);
}

/** The allowed rules of a style sheet. At-rules, such as @import, and selectors of states, such as :hover, are left out. */
export function cleanStyleSheet(text: string): string {
  const tree = styleSheet(text);
  const rules: CssNode[] = [];
  for (const node of tree.children.toArray()) {
    if (node.type !== 'Rule' || !hasPlainSelectors(node)) continue;
    node.block.children = node.block.children.filter(isAllowedDeclaration);
    if (!node.block.children.isEmpty) rules.push(node);
  }
  tree.children = new List<CssNode>().fromArray(rules);
  const clean = generate(tree);
  // The text goes into an element of XML. CSS of these rules has no use for the characters of tags and entities.
  return /[<&\\]/.test(clean) ? '' : clean;
}

/** The style sheet with every colour of paint replaced by what `replace` makes of it. */
export function replaceColours(text: string, replace: (value: string) => string): string {
  const tree = styleSheet(text);
  walk(tree, { visit: 'Declaration', enter: (node) => replaceIn(node, replace) });
  return generate(tree);
}

/** The same for the value of a `style` attribute. */
export function replaceDeclaredColours(text: string, replace: (value: string) => string): string {
  const tree = parsed(text, 'declarationList');
  if (tree === undefined) return '';
  walk(tree, { visit: 'Declaration', enter: (node) => replaceIn(node, replace) });
  return generate(tree);
}

function replaceIn(node: Declaration, replace: (value: string) => string): void {
  if (COLOURS.has(node.property)) node.value = { type: 'Raw', value: replace(generate(node.value)) };
}

function styleSheet(text: string): StyleSheet {
  const tree = parsed(text, 'stylesheet');
  return tree?.type === 'StyleSheet' ? tree : { type: 'StyleSheet', children: new List<CssNode>() };
}

function parsed(text: string, context: 'value' | 'declarationList' | 'stylesheet'): CssNode | undefined {
  if (text.length > CSS_BOUND)
    throw new Refused(`the SVG has more than ${CSS_BOUND} characters of CSS in one place: simplify it`);
  try {
    return parse(text, { context, onParseError: () => {} });
  } catch {
    return undefined;
  }
}

function isAllowedDeclaration(node: CssNode): boolean {
  return node.type === 'Declaration' && PROPERTIES.has(node.property) && isSafe(node.value);
}

function hasPlainSelectors({ prelude }: Rule): boolean {
  let plain = true;
  walk(prelude, (node) => {
    if (!SELECTORS.has(node.type)) plain = false;
  });
  return plain;
}

function isSafe(tree: CssNode): boolean {
  let safe = true;
  walk(tree, (node) => {
    if (node.type === 'Raw' || node.type === 'Block' || node.type === 'AtrulePrelude') safe = false;
    if (node.type === 'Url' && !LOCAL_REFERENCE.test(node.value)) safe = false;
    if (node.type === 'Function' && !FUNCTIONS.has(node.name.toLowerCase())) safe = false;
  });
  return safe && !/[<&\\]/.test(generate(tree));
}
