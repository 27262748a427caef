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

/** Refuses a drawing that would lose a part by the sanitizer, or that grows too large when its references are followed. */
export function checkElements(root: SvgElement): void {
  const byId = new Map<string, SvgElement>();
  for (const element of elementsOf(root)) {
    const why = NOT_TAKEN[element.name];
    if (why !== undefined) throw new Refused(`the SVG has an element ${element.name}: ${why}`);
    const id = element.attributes.get('id');
    if (id !== undefined && !byId.has(id)) byId.set(id, element);
  }
  const sizes = new Map<SvgElement, number | 'open'>();
  if (expandedSize(root, byId, sizes) > EXPANDED)
    throw new Refused(
      `the SVG draws more than ${EXPANDED} elements once its references are followed: simplify it`,
    );
}

/** The number of elements that `element` draws: itself, those in it, and those that they refer to. */
function expandedSize(
  element: SvgElement,
  byId: ReadonlyMap<string, SvgElement>,
  sizes: Map<SvgElement, number | 'open'>,
): number {
  const known = sizes.get(element);
  if (known === 'open') throw new Refused('an element of the SVG refers to itself: remove this reference');
  if (known !== undefined) return known;
  sizes.set(element, 'open');
  let size = 1;
  for (const child of element.children)
    if (typeof child !== 'string') size += expandedSize(child, byId, sizes);
  for (const [name, id] of references(element)) {
    const target = byId.get(id);
    if (target !== undefined) size += uses(element, name) * expandedSize(target, byId, sizes);
    if (size > EXPANDED) break;
  }
  sizes.set(element, size);
  return size;
}

/** The ids that an element refers to, each with the attribute that names it. */
function* references({ attributes }: SvgElement): Generator<[string, string]> {
  for (const [name, value] of attributes) {
    if (name === 'href' && value.trim().startsWith('#')) yield [name, value.trim().slice(1)];
    for (const [, id] of value.matchAll(/url\(\s*["']?#([^"')\s]{1,200})/gi))
      if (id !== undefined) yield [name, id];
  }
}

/** How often an attribute draws what it refers to: a marker once for each point of a path. */
function uses({ attributes }: SvgElement, attribute: string): number {
  if (!/^marker|^style$/.test(attribute)) return 1;
  const points = attributes.get('d') ?? attributes.get('points') ?? '';
  return 1 + (points.match(/[\s,a-z-]+/gi)?.length ?? 0);
}
