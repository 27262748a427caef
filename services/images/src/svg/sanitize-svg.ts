import sanitizeHtml from 'sanitize-html';
import {
  checkVariables,
  cleanDeclarations,
  cleanStyleSheet,
  isSafeValue,
  LOCAL_REFERENCE,
  NEEDED,
  notUnderstood,
  PROPERTIES,
  withFallbacks,
} from './css.ts';
import { elementsOf, escapeText, type SvgElement, svgText } from './svg-tree.ts';

const SHAPES = ['path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon', 'use'];
const FILTERS =
  `feBlend feColorMatrix feComponentTransfer feComposite feDropShadow feFlood feFuncA feFuncB feFuncG
  feFuncR feGaussianBlur feMerge feMergeNode feOffset`.split(/\s+/);
/** Elements that SVG draws without what is in them. sanitize-html would put it behind them. */
const WITHOUT_CHILDREN = ['stop', ...SHAPES, ...FILTERS].filter(
  (name) => name !== 'feMerge' && name !== 'feComponentTransfer',
);
const ELEMENTS = [
  ...`svg g defs symbol switch text tspan textPath clipPath mask pattern marker linearGradient
    radialGradient stop filter`.split(/\s+/),
  ...SHAPES,
  ...FILTERS,
];

/** Attributes whose values are names and numbers. */
const PLAIN = new Set(
  `version xml:space width height x y x1 y1 x2 y2 cx cy r rx ry fx fy fr d points pathLength viewBox
  preserveAspectRatio dx dy rotate textLength lengthAdjust startOffset method spacing side offset
  gradientUnits spreadMethod clipPathUnits maskUnits maskContentUnits patternUnits patternContentUnits
  markerUnits markerWidth markerHeight refX refY orient filterUnits primitiveUnits in in2 result mode
  type values operator k1 k2 k3 k4 stdDeviation edgeMode tableValues slope intercept amplitude
  exponent`.split(/\s+/),
);
const PLAIN_VALUE = /^[\w\s.,+%-]*$/;
/** Attributes with the values of a property under another name. */
const TRANSFORMS = new Set(['gradientTransform', 'patternTransform']);
const CLASSES = /^[\p{L}\p{N}\s_-]+$/u;

/**
 * Returns the drawing as text, reduced to a list of allowed elements, attributes and values. What is not on the list is left out
 * with everything in it. A link becomes a group. The result is well-formed XML, and sanitizing it again changes nothing.
 *
 * sanitize-html, which has never allowed script, applies the list. It does not escape the text of `style`. Therefore `style`
 * elements are left out, and their rules, made clean, become one element.
 */
export function sanitizeSvg(root: SvgElement): string {
  const rules = [...elementsOf(root)].filter(isStyleSheet).map((element) => element.children.join(''));
  const css = cleanStyleSheet(rules.join('\n'));
  const given = svgText(asDrawn(root));
  checkVariables(rules.join('\n') + given);
  const text = sanitizeHtml(given, {
    allowedTags: ELEMENTS,
    disallowedTagsMode: 'completelyDiscard',
    allowedAttributes: {
      '*': ['xmlns', 'id', 'class', 'style', 'href', ...PLAIN, ...TRANSFORMS, ...PROPERTIES],
    },
    // Values are checked below. Only references within the document pass.
    allowedSchemes: [],
    allowProtocolRelative: false,
    parseStyleAttributes: false,
    nonBooleanAttributes: [],
    selfClosing: WITHOUT_CHILDREN,
    transformTags: {
      a: 'g',
      '*': (tagName, attribs) => ({ tagName, attribs: allowedAttributes(attribs) }),
    },
    parser: { xmlMode: true, decodeEntities: true, lowerCaseTags: false, lowerCaseAttributeNames: false },
  });
  if (css === '') return text;
  const start = text.indexOf('>') + 1;
  return `${text.slice(0, start)}<style>${escapeText(css)}</style>${text.slice(start)}`;
}

function asDrawn(element: SvgElement): SvgElement {
  const children = WITHOUT_CHILDREN.includes(element.name) ? [] : element.children;
  return {
    ...element,
    children: children.map((child) => (typeof child === 'string' ? child : asDrawn(child))),
  };
}

function isStyleSheet({ name, attributes }: SvgElement): boolean {
  const type = attributes.get('type') ?? '';
  const media = attributes.get('media') ?? 'all';
  return name === 'style' && /^(text\/css)?$/.test(type) && /^(all|screen)$/.test(media);
}

function allowedAttributes(attributes: Readonly<Record<string, string>>): Record<string, string> {
  const allowed: Record<string, string> = {};
  for (const [name, value] of Object.entries(attributes)) {
    const clean = name === 'style' ? cleanDeclarations(value) : withFallbacks(value).trim();
    // sanitize-html writes an attribute without a value as HTML does, which is not XML.
    if (clean === '') continue;
    if (isAllowedValue(name, clean)) allowed[name] = clean;
    else if (NEEDED.has(name)) throw notUnderstood(`${name}="${clean}"`);
  }
  return allowed;
}

function isAllowedValue(name: string, value: string): boolean {
  if (name === 'style' || name === 'xmlns') return true;
  if (name === 'href') return LOCAL_REFERENCE.test(value);
  if (name === 'id') return LOCAL_REFERENCE.test(`#${value}`);
  if (name === 'class') return CLASSES.test(value);
  if (PLAIN.has(name)) return PLAIN_VALUE.test(value);
  return (PROPERTIES.has(name) || TRANSFORMS.has(name)) && isSafeValue(value);
}
