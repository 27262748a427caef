import { Refused } from '../image/image.ts';
import { referencesOfDeclarations, referencesOfStyleSheet, valuesOfProperty } from './css.ts';
import { elementsOf, type SvgElement } from './svg-tree.ts';

/** The elements that may be drawn once every reference is followed. */
const EXPANDED = 20_000;

/**
 * As how many elements a costly one counts. On all of 512 pixels, a rectangle takes 0.03 ms, a blur about 40 ms, another filter
 * up to 20 ms, and a mask about 20 ms. Most filters and masks cover only a part of the picture, so they count as less than that.
 */
const BLUR = 250;
const FILTER = 50;
const MASK = 100;
const WEIGHTS: Record<string, number> = {
  feGaussianBlur: BLUR,
  feDropShadow: BLUR,
  feBlend: FILTER,
  feColorMatrix: FILTER,
  feComponentTransfer: FILTER,
  feComposite: FILTER,
  mask: MASK,
};

/** Why an element is not taken, and what to do about it. */
const NOT_TAKEN: Record<string, string> = {
  image: 'it shows a picture within or outside the file: draw it as paths, or send the picture itself as PNG',
  feImage: 'it shows a picture within or outside the file: draw it as paths',
  feTurbulence: 'its filter draws noise: draw it without feTurbulence',
};
/** Primitives of filters that take too much time, whatever they draw. */
const TOO_COSTLY = new Set(
  `feConvolveMatrix feDisplacementMap feMorphology feTile feDiffuseLighting feSpecularLighting`.split(' '),
);

/** Refuses a drawing that would lose a part by the sanitizer. */
export function checkElements(root: SvgElement): void {
  for (const { name } of elementsOf(root)) {
    const why = TOO_COSTLY.has(name) ? `its filter is too costly: draw it without ${name}` : NOT_TAKEN[name];
    if (why !== undefined) throw new Refused(`the SVG has an element ${name}: ${why}`);
  }
}

/** The properties that refer to elements, and that an element without them has from the element around it. */
const PAINTS = ['fill', 'stroke', 'marker'] as const;
type Paint = (typeof PAINTS)[number];

/** The elements that paint, each with its own fill and stroke. */
const PAINTED = new Set(`path rect circle ellipse line polyline polygon text tspan textPath`.split(/\s+/));
/** The elements that are drawn only where other elements refer to them. */
const DRAWN_BY_REFERENCE = new Set(
  `defs symbol clipPath mask pattern marker linearGradient radialGradient filter`.split(/\s+/),
);

/** The references of a style sheet, by the last element, class or id of their selectors. */
type Rules = ReadonlyMap<string, ReturnType<typeof referencesOfStyleSheet>>;

/** What an element draws: itself, those in it, and those that they refer to. No number is above EXPANDED + 1. */
interface Expansion {
  size: number;
  /** How often paints from around the element are drawn in it: for each shape once, and a marker for each of its points. */
  inherits: Record<Paint, number>;
}

/** Refuses a sanitized drawing that refers to itself, or that grows too large when its references are followed. */
export function checkReferences(root: SvgElement): void {
  if (expandedSize(root) > EXPANDED)
    throw new Refused(
      `the SVG draws more than ${EXPANDED} elements once its references are followed, where a blur counts as ${BLUR}, another filter as ${FILTER} and a mask as ${MASK}: simplify it`,
    );
}

/** Returns what the references of a drawing need: its elements by id, their parents, and the rules of its style sheets. */
function drawingOf(root: SvgElement) {
  const byId = new Map<string, SvgElement>();
  const parents = new Map<SvgElement, SvgElement>();
  const css: string[] = [];
  for (const element of elementsOf(root)) {
    const id = element.attributes.get('id');
    if (id !== undefined && !byId.has(id)) byId.set(id, element);
    if (element.name === 'style') css.push(element.children.join(''));
    for (const child of element.children) if (typeof child !== 'string') parents.set(child, element);
  }
  const sheet = css.join('\n');
  const rules: Rules = Map.groupBy(referencesOfStyleSheet(sheet), ({ names }) => names.at(-1) ?? '*');
  // A rule may make an element take its paint from around itself, whatever its attributes say.
  const hasRuleToInherit = /inherit|unset|revert|context-/i.test(sheet);
  return { byId, parents, rules, hasRuleToInherit };
}

/** Returns the number of elements that `root` draws. */
function expandedSize(root: SvgElement): number {
  const { byId, parents, rules, hasRuleToInherit } = drawingOf(root);
  const targetsOf = once((element): [name: string, target: SvgElement][] =>
    [...references(element, rules)].flatMap(([name, id]) => {
      const target = byId.get(id);
      return target === undefined ? [] : [[name, target]];
    }),
  );
  const setsPaint = (element: SvgElement, paint: Paint) =>
    !hasRuleToInherit && hasPaintOfItsOwn(element, paint);

  const expansionOf = once((element): Expansion => {
    const isUsed = ([name]: [string, SvgElement]) => element.name === 'use' && name === 'href';
    const targets = targetsOf(element).filter((target) => !isUsed(target));
    const shapes = PAINTED.has(element.name) ? 1 : 0;
    const inherits = { fill: shapes, stroke: shapes, marker: shapes * pointsOf(element) };
    let size = WEIGHTS[element.name] ?? 1;
    const children = element.children.filter((child) => typeof child !== 'string');
    const used = targetsOf(element)
      .filter(isUsed)
      .map(([, target]) => target);
    for (const part of [...children, ...used]) {
      const expansion = expansionOf(part);
      size = bounded(size + expansion.size);
      if (DRAWN_BY_REFERENCE.has(part.name) && !used.includes(part)) continue;
      for (const paint of PAINTS) inherits[paint] = bounded(inherits[paint] + expansion.inherits[paint]);
    }
    for (const [name, target] of targets) {
      if (paintOf(name) !== 'marker') continue;
      // What a marker draws may have the fill or the stroke of the shape (context-fill).
      const { fill, stroke } = expansionOf(target).inherits;
      const drawn = Math.max(1, inherits.marker) * (fill + stroke);
      for (const paint of ['fill', 'stroke'] as const) inherits[paint] = bounded(inherits[paint] + drawn);
    }
    for (const [name, target] of targets) {
      const paint = paintOf(name);
      const times = paint === undefined ? 1 : Math.max(1, inherits[paint]);
      size = bounded(size + times * sizeFromElsewhere(target));
    }
    // A clip path has no paints.
    for (const paint of PAINTS)
      if (element.name === 'clipPath' || setsPaint(element, paint)) inherits[paint] = 0;
    return { size, inherits };
  });

  /** What an element draws where another one refers to it. Its paints are those around itself, not those around the other. */
  const sizeFromElsewhere = once((element): number => {
    const { size, inherits } = expansionOf(element);
    let all = size;
    for (const paint of PAINTS) {
      let around = inherits[paint] === 0 ? undefined : parents.get(element);
      while (around !== undefined) {
        for (const [name, target] of targetsOf(around))
          if (paintOf(name) === paint) all = bounded(all + inherits[paint] * sizeFromElsewhere(target));
        around = setsPaint(around, paint) ? undefined : parents.get(around);
      }
    }
    return all;
  });

  return expansionOf(root).size;
}

/** Computes the value of each element once. Refuses a drawing in which the value of an element needs itself. */
function once<Value>(compute: (element: SvgElement) => Value): (element: SvgElement) => Value {
  const values = new Map<SvgElement, Value | 'open'>();
  return (element) => {
    const known = values.get(element);
    if (known === 'open') throw new Refused('an element of the SVG refers to itself: remove this reference');
    if (known !== undefined) return known;
    values.set(element, 'open');
    const value = compute(element);
    values.set(element, value);
    return value;
  };
}

function bounded(size: number): number {
  return Math.min(size, EXPANDED + 1);
}

/** Returns the paint that an attribute or property refers to. */
function paintOf(name: string): Paint | undefined {
  return name.startsWith('marker') ? 'marker' : name === 'fill' || name === 'stroke' ? name : undefined;
}

/** A paint that is surely understood. One that is not would be ignored, and the paint from around the element drawn. */
const PAINT_OF_ITS_OWN =
  /^(none|currentcolor|#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|black|white|url\(#[^)]*\))$/i;

function hasPaintOfItsOwn({ attributes }: SvgElement, paint: Paint): boolean {
  if (paint === 'marker') return false;
  const values = [attributes.get(paint) ?? [], valuesOfProperty(attributes.get('style') ?? '', paint)].flat();
  return values.length > 0 && values.every((value) => PAINT_OF_ITS_OWN.test(value.trim()));
}

/** Yields the ids that an element refers to, each with the attribute or the property that names it. */
function* references(
  { name: tag, attributes }: SvgElement,
  rules: Rules,
): Generator<[name: string, id: string]> {
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

/** At least the number of points of a shape, at each of which a marker is drawn. Numbers may follow each other as in `l.5.5-1-1`. */
function pointsOf({ attributes }: SvgElement): number {
  const points = attributes.get('d') ?? attributes.get('points') ?? '';
  return 2 + (points.match(/\d*\.?\d+(e[-+]?\d+)?|[a-z]/gi)?.length ?? 0);
}
