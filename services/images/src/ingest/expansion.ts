import { type CssReference, referencesOfDeclarations, referencesOfStyleSheet } from './css.ts';
import { Refused } from './refused.ts';
import { elementsOf, type SvgElement } from './svg-tree.ts';

/** The elements that may be drawn once every reference is followed. */
const EXPANDED = 20_000;

/** Elements that need something which the service does not take, and what to do about each. */
const NOT_TAKEN: Record<string, string> = {
  image: 'it shows a picture within or outside the file: draw it as paths, or send the picture itself as PNG',
  feImage: 'it shows a picture within or outside the file: draw it as paths',
  feTurbulence: 'its filter draws noise: draw it without feTurbulence',
  feConvolveMatrix: 'its filter is too costly: draw it without feConvolveMatrix',
  feDisplacementMap: 'its filter is too costly: draw it without feDisplacementMap',
  feMorphology: 'its filter is too costly: draw it without feMorphology',
  feTile: 'its filter is too costly: draw it without feTile',
  feDiffuseLighting: 'its filter is too costly: draw it without feDiffuseLighting',
  feSpecularLighting: 'its filter is too costly: draw it without feSpecularLighting',
};

/** Refuses a drawing that would lose a part by the sanitizer. */
export function checkElements(root: SvgElement): void {
  for (const { name } of elementsOf(root)) {
    const why = NOT_TAKEN[name];
    if (why !== undefined) throw new Refused(`the SVG has an element ${name}: ${why}`);
  }
}

/** An attribute or property that refers to an element. */
type Reference = [name: string, id: string];

/** The references of a style sheet, by the last element, class or id of their selectors. */
type Rules = ReadonlyMap<string, (CssReference & { names: string[] })[]>;

interface Drawing {
  byId: ReadonlyMap<string, SvgElement>;
  rules: Rules;
  sizes: Map<SvgElement, number | 'open'>;
}

/** Refuses a sanitized drawing that refers to itself, or that grows too large when its references are followed. */
export function checkReferences(root: SvgElement): void {
  const byId = new Map<string, SvgElement>();
  const css: string[] = [];
  for (const element of elementsOf(root)) {
    const id = element.attributes.get('id');
    if (id !== undefined && !byId.has(id)) byId.set(id, element);
    if (element.name === 'style') css.push(element.children.join(''));
  }
  const rules = Map.groupBy(referencesOfStyleSheet(css.join('\n')), ({ names }) => names.at(-1) ?? '*');
  if (expandedSize(root, { byId, rules, sizes: new Map() }) > EXPANDED)
    throw new Refused(
      `the SVG draws more than ${EXPANDED} elements once its references are followed: simplify it`,
    );
}

/** The number of elements that `element` draws: itself, those in it, and those that they refer to. */
function expandedSize(element: SvgElement, drawing: Drawing): number {
  const { byId, sizes } = drawing;
  const known = sizes.get(element);
  if (known === 'open') throw new Refused('an element of the SVG refers to itself: remove this reference');
  if (known !== undefined) return known;
  sizes.set(element, 'open');
  let size = 1;
  for (const child of element.children) if (typeof child !== 'string') size += expandedSize(child, drawing);
  for (const [name, id] of references(element, drawing.rules)) {
    const target = byId.get(id);
    if (target !== undefined) size += uses(element, name) * expandedSize(target, drawing);
    if (size > EXPANDED) break;
  }
  sizes.set(element, size);
  return size;
}

/** The ids that an element refers to, each with the attribute or the property that names it. */
function* references({ name: tag, attributes }: SvgElement, rules: Rules): Generator<Reference> {
  for (const [name, value] of attributes) {
    if (name === 'href') yield [name, value.slice(1)];
    else if (name === 'style')
      for (const { property, id } of referencesOfDeclarations(value)) yield [property, id];
    else
      for (const [, id] of value.matchAll(/url\(\s*["']?#([^"')\s]+)/gi))
        if (id !== undefined) yield [name, id];
  }
  const classes = (attributes.get('class') ?? '').split(/[ \t\n\r\f]+/).map((name) => `.${name}`);
  const names = new Set(['*', tag, `#${attributes.get('id')}`, ...classes]);
  // What stands before the last combinator of a selector is taken to match.
  for (const name of names)
    for (const rule of rules.get(name) ?? [])
      if (rule.names.every((each) => names.has(each))) yield [rule.property, rule.id];
}

/** How often an attribute or a property draws what it refers to: a marker once for each point of a path. */
function uses({ attributes }: SvgElement, name: string): number {
  if (!name.startsWith('marker')) return 1;
  const points = attributes.get('d') ?? attributes.get('points') ?? '';
  return 1 + (points.match(/[\s,a-z-]+/gi)?.length ?? 0);
}
