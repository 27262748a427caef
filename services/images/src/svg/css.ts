import {
  type CssNode,
  type Declaration,
  type DeclarationList,
  find,
  generate,
  List,
  parse,
  type Rule,
  type StyleSheet,
  walk,
} from 'css-tree';
import { Refused } from '../image/image.ts';

/** The properties of paint, whose values are colours. */
export const COLOURS = new Set(['fill', 'stroke', 'color', 'stop-color', 'flood-color', 'lighting-color']);

/** The properties that drawings may use, in attributes and in CSS. */
export const PROPERTIES = new Set([
  ...COLOURS,
  ...`fill-rule fill-opacity stroke-width stroke-linecap stroke-linejoin stroke-miterlimit
    stroke-dasharray stroke-dashoffset stroke-opacity opacity stop-opacity flood-opacity clip-path
    clip-rule mask mask-type filter marker marker-start marker-mid marker-end display visibility
    overflow transform transform-origin paint-order vector-effect mix-blend-mode isolation
    color-interpolation color-interpolation-filters shape-rendering text-rendering font font-family
    font-size font-style font-variant font-weight font-stretch text-anchor text-decoration
    letter-spacing word-spacing writing-mode dominant-baseline alignment-baseline baseline-shift
    direction unicode-bidi`.split(/\s+/),
]);

/** The functions that values may call besides url(#id), in lower case. */
const FUNCTIONS = new Set(
  `rgb rgba hsl hsla hwb
  matrix translate translatex translatey scale scalex scaley rotate skewx skewy`.split(/\s+/),
);

const SELECTORS = new Set(
  `SelectorList Selector TypeSelector ClassSelector IdSelector Combinator`.split(' '),
);

/** Characters of CSS in one drawing. */
const CSS_BOUND = 64 * 1024;

/** A reference to an element of the same document. */
export const LOCAL_REFERENCE = /^#[\p{L}\p{N}_.:-]+$/u;

/** Most values: names, numbers, colours as `#123456`. They need no parser. */
const PLAIN_VALUE = /^[\w\s#.,%+-]*$/;

/** Properties without which a drawing would look different. Their declarations are never left out: the drawing is refused. */
export const NEEDED = new Set([...COLOURS, 'clip-path', 'mask', 'filter']);

/** Selectors of states that a picture in a page does not have. Their rules are left out. */
const STATES = /^(?!.*:not\().*:(hover|focus|focus-visible|focus-within|active|visited|target)\b/is;

/** The media queries, as css-tree writes them, that hold for the picture. Rules of other ones, such as print, are left out. */
const MEDIA = /^((only )?(all|screen)|((only )?screen and )?\(prefers-color-scheme:\s*light\))$/i;

/** Checks whether a value of a property refers to nothing outside the document, calls only allowed functions, and has no escapes. */
export function isSafeValue(value: string): boolean {
  if (PLAIN_VALUE.test(value)) return true;
  if (value.includes('\\')) return false;
  try {
    return isSafe(parsed(value, 'value'));
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return false;
  }
}

/** How many variables may be within one another. */
const FALLBACKS = 8;

/** Returns the CSS with each `var(--name, fallback)` replaced by its fallback, if this has no brackets. */
export function withFallbacks(text: string): string {
  let replaced = text;
  for (let step = 0; step < FALLBACKS && /var\(/i.test(replaced); step += 1)
    replaced = replaced.replace(/var\(\s{0,9}--[\w-]{1,100}\s{0,9},([^(){};\\"']{1,200})\)/gi, '$1');
  return replaced;
}

/** Refuses a drawing that sets a variable and uses it: the fallback would be another value. */
export function checkVariables(text: string): void {
  const set = new Set([...text.matchAll(/(?<![\w-])(--[\w-]{1,100})\s{0,9}:/g)].map(([, name]) => name));
  for (const [, name] of text.matchAll(/var\(\s{0,9}(--[\w-]{1,100})/gi))
    if (set.has(name))
      throw new Refused(`the SVG uses the CSS variable ${name}: write its value in its place`);
}

/** Returns the allowed declarations of a `style` attribute. */
export function cleanDeclarations(text: string): string {
  const tree = parsed<DeclarationList>(withFallbacks(text), 'declarationList');
  tree.children = keptOf(tree.children);
  return generate(tree);
}

/** Returns the allowed rules of a style sheet, without at-rules and selectors of states. Rules of `@media` for screens remain. */
export function cleanStyleSheet(text: string): string {
  const tree = parsed<StyleSheet>(withFallbacks(text), 'stylesheet');
  tree.children = new List<CssNode>().fromArray(cleanRules(tree.children));
  return generate(tree);
}

function cleanRules(nodes: List<CssNode>): Rule[] {
  return nodes.toArray().flatMap((node) => {
    if (node.type === 'Atrule' && node.name.toLowerCase() === 'media') {
      const holds = node.prelude !== null && MEDIA.test(generate(node.prelude));
      return holds && node.block !== null ? cleanRules(node.block.children) : [];
    }
    if (node.type === 'Raw') refuseLossOf(node);
    return node.type === 'Rule' ? cleanRule(node) : [];
  });
}

function cleanRule(rule: Rule): Rule[] {
  const selectors = rule.prelude.type === 'SelectorList' ? rule.prelude.children : undefined;
  const isTaken = (selector: CssNode) => isPlainSelector(selector) || STATES.test(generate(selector));
  if (!selectors?.toArray().every(isTaken)) refuseLossOf(rule);
  const plain = selectors?.filter(isPlainSelector);
  if (!plain || plain.isEmpty) return [];
  rule.prelude = { type: 'SelectorList', children: plain };
  rule.block.children = keptOf(rule.block.children);
  return rule.block.children.isEmpty ? [] : [rule];
}

/** A reference of CSS to an element of the same document. */
export interface CssReference {
  property: string;
  id: string;
}

/** Returns the references of a clean `style` attribute. */
export function referencesOfDeclarations(text: string): CssReference[] {
  return referencesIn(parsed<DeclarationList>(text, 'declarationList'));
}

/** Returns the values that a clean `style` attribute gives to a property. */
export function valuesOfProperty(text: string, property: string): string[] {
  return parsed<DeclarationList>(text, 'declarationList')
    .children.toArray()
    .filter((node) => node.type === 'Declaration' && node.property === property)
    .map((node) => generate((node as Declaration).value));
}

/** Returns the references of a clean style sheet, each with the names at the end of its selector (`namesAtEnd`). */
export function referencesOfStyleSheet(text: string): (CssReference & { names: string[] })[] {
  return parsed<StyleSheet>(text, 'stylesheet')
    .children.toArray()
    .flatMap((rule) => {
      if (rule.type !== 'Rule' || rule.prelude.type !== 'SelectorList') return [];
      const references = referencesIn(rule.block);
      const selectors = references.length === 0 ? [] : rule.prelude.children.toArray().map(namesAtEnd);
      return selectors.flatMap((names) => references.map((reference) => ({ ...reference, names })));
    });
}

function referencesIn(tree: CssNode): CssReference[] {
  const references: CssReference[] = [];
  walk(tree, function enter(node) {
    if (node.type === 'Url')
      references.push({ property: this.declaration?.property ?? '', id: node.value.slice(1) });
  });
  return references;
}

/** Returns the parts of a plain selector after its last combinator, as they are written: `path`, `.class`, `#id`. */
function namesAtEnd(selector: CssNode): string[] {
  const parts = selector.type === 'Selector' ? selector.children.toArray() : [];
  return parts
    .slice(parts.findLastIndex(({ type }) => type === 'Combinator') + 1)
    .map((part) => generate(part));
}

/** Returns a style sheet or a `style` attribute with every colour of paint replaced by what `replace` makes of it. */
export function replaceColours(
  text: string,
  context: 'declarationList' | 'stylesheet',
  replace: (value: string) => string,
): string {
  const tree = parsed(text, context);
  walk(tree, {
    visit: 'Declaration',
    enter: (node) => {
      if (COLOURS.has(node.property)) node.value = { type: 'Raw', value: replace(generate(node.value)) };
    },
  });
  return generate(tree);
}

/** css-tree throws SyntaxError only for a value. It returns declarations and rules that it does not understand as raw text. */
function parsed<Tree extends CssNode>(
  text: string,
  context: 'value' | 'declarationList' | 'stylesheet',
): Tree {
  if (text.length > CSS_BOUND)
    throw new Refused(`the SVG has more than ${CSS_BOUND} characters of CSS in one place: simplify it`);
  return parse(text, { context, onParseError: () => {} }) as Tree;
}

/** The colours of CSS that older programs do not know, which design tools write behind a colour that all know. */
const NEW_COLOUR = /^(color|lab|lch|oklab|oklch)\([^()]*\)$/i;

/** Returns the declarations that are allowed. A new colour is left out if an earlier declaration is its fallback. */
function keptOf(nodes: List<CssNode>): List<CssNode> {
  const stated = new Set<string>();
  return nodes.filter((node) => {
    if (node.type !== 'Declaration') return isKept(node);
    const property = node.property.toLowerCase();
    if (
      stated.has(property) &&
      COLOURS.has(property) &&
      !node.important &&
      NEW_COLOUR.test(generate(node.value))
    )
      return false;
    if (!isKept(node)) return false;
    stated.add(property);
    return true;
  });
}

/** Checks whether a declaration is allowed. Refuses the drawing if it is not, and the drawing would look different without it. */
function isKept(node: CssNode): boolean {
  if (node.type === 'Declaration') {
    node.property = node.property.toLowerCase();
    if (PROPERTIES.has(node.property) && isSafe(node.value)) return true;
  }
  refuseLossOf(node);
  return false;
}

const DECLARATION = /(?<![\w-])([\w-]{1,40})\s{0,9}:[^;}]{0,80}/g;

/** Refuses the drawing if the node declares what the drawing would look different without. */
function refuseLossOf(node: CssNode): void {
  walk(node, (part) => {
    if (part.type === 'Declaration' && NEEDED.has(part.property.toLowerCase()))
      throw notUnderstood(generate(part));
    if (part.type !== 'Raw') return;
    for (const [declaration, property = ''] of part.value.matchAll(DECLARATION))
      if (NEEDED.has(property.toLowerCase())) throw notUnderstood(declaration);
  });
}

/** Returns the refusal of a drawing that would lose a colour or a shape. */
export function notUnderstood(declaration: string): Refused {
  return new Refused(
    `the SVG has CSS that is not taken (${declaration.slice(0, 80)}): write colours as #rrggbb, references as url(#id), and selectors as elements, classes and ids without escapes`,
  );
}

function isPlainSelector(selector: CssNode): boolean {
  const text = generate(selector);
  // `*|path` would name a type in another way.
  return find(selector, ({ type }) => !SELECTORS.has(type)) === null && isText(text) && !text.includes('|');
}

function isSafe(tree: CssNode): boolean {
  return find(tree, isUnsafe) === null && isText(generate(tree));
}

function isUnsafe(node: CssNode): boolean {
  if (node.type === 'Url') return !LOCAL_REFERENCE.test(node.value);
  if (node.type === 'Function') return !FUNCTIONS.has(node.name.toLowerCase());
  return node.type === 'Raw' || node.type === 'Block' || node.type === 'AtrulePrelude';
}

/** Checks whether CSS can be the text of an element of XML. Allowed rules have no use for the characters of tags and entities. */
function isText(css: string): boolean {
  return !/[<&\\]/.test(css);
}
