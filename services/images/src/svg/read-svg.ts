import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes';
import { Refused } from '../image/image.ts';
import { SVG_NAMESPACE, type SvgElement } from './svg-tree.ts';

const XLINK = 'http://www.w3.org/1999/xlink';
const XML = 'http://www.w3.org/XML/1998/namespace';

/** The bytes of a drawing, as given and as stored. */
export const MOST_SVG_BYTES = 1024 ** 2;
/** The bounds of one drawing. Logos stay far below them: of 3,470 icons the largest has 30 KB and 60 elements. */
const BOUNDS = {
  elements: 10_000,
  depth: 64,
  attributes: 100,
  /** Characters of one attribute, which path data fills. */
  value: 256 * 1024,
};

/** The elements in which text is kept. */
const WITH_TEXT = new Set(['text', 'tspan', 'textPath', 'style']);

/**
 * Reads a file that is well-formed XML in UTF-8 or UTF-16, declares nothing but namespaces, and is within `BOUNDS`. Leaves out
 * comments, processing instructions, and everything that is in no namespace of SVG.
 */
export function readSvg(bytes: Uint8Array): SvgElement {
  return parse(withoutDoctype(decode(bytes)));
}

function decode(bytes: Uint8Array): string {
  if (bytes.length > MOST_SVG_BYTES)
    throw new Refused(
      `the SVG has ${bytes.length} bytes, and at most ${MOST_SVG_BYTES} are allowed: simplify it`,
    );
  const encoding = encodingOf(bytes);
  const text = decodedText(bytes, encoding);
  const declared = /^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([^"'>]{0,40})/.exec(text)?.[1];
  // Programs that rewrite a file in UTF-16 leave its declaration as it was.
  if (encoding === 'UTF-8' && declared !== undefined && !/^(utf-8|us-ascii)$/i.test(declared))
    throw new Refused(`the SVG declares the encoding ${declared}: save it in UTF-8`);
  return text;
}

/** Returns the encoding of XML, which its first two bytes show: a byte order mark, or "<" (XML 1.0, appendix F). */
export function encodingOf(bytes: Uint8Array): 'UTF-8' | 'UTF-16LE' | 'UTF-16BE' {
  const start = Buffer.from(bytes.subarray(0, 2)).toString('hex');
  if (start === 'fffe' || start === '3c00') return 'UTF-16LE';
  return start === 'feff' || start === '003c' ? 'UTF-16BE' : 'UTF-8';
}

function decodedText(bytes: Uint8Array, encoding: string): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new Refused(`the SVG is not text in ${encoding}: save it in UTF-8`);
  }
}

/** Declares a namespace under a name, as Adobe Illustrator does. Its value has no characters of markup and names no other entity. */
const NAMESPACE_ENTITY = String.raw`\s*<!ENTITY\s+ns_\w{1,40}\s+"https?://[\w:/.#~+-]{1,200}"\s*>`;
/** How often a drawing may use its entities, so that they add at most 50 KB. */
const ENTITY_USES = 256;
/**
 * The declaration that SVG 1.0 and 1.1 asked for. It names a file, which nothing reads. Its internal subset is empty or declares
 * namespaces.
 */
const STANDARD_DOCTYPE = new RegExp(
  String.raw`<!DOCTYPE\s+svg(?:\s+(?:PUBLIC\s+"[^"<>[\]]{0,200}"|SYSTEM)\s+"[^"<>[\]]{0,200}")?\s*(?:\[((?:${NAMESPACE_ENTITY}){0,40})\s*\]\s*)?>`,
  'y',
);

/**
 * Separates a drawing from the standard DOCTYPE, which many drawing programs write. Refuses any other before a parser sees it, because
 * entities can grow without bound and can hide what they contain.
 */
function withoutDoctype(text: string): { rest: string; entities: Record<string, string> } {
  STANDARD_DOCTYPE.lastIndex = text.indexOf('<!DOCTYPE');
  const standard = STANDARD_DOCTYPE.lastIndex < 0 ? null : STANDARD_DOCTYPE.exec(text);
  const rest = standard === null ? text : text.replace(standard[0], '');
  if (/<!(DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)/i.test(rest))
    throw new Refused('the SVG declares a DOCTYPE or entities of its own: save it as plain SVG');
  if (rest.split('&ns_', ENTITY_USES + 2).length > ENTITY_USES + 1)
    throw tooMuch('uses of entities', ENTITY_USES);
  const declared = [...(standard?.[1] ?? '').matchAll(/ENTITY\s+(\w+)\s+"([^"]+)"/g)];
  // XML takes the first declaration of a name.
  return { rest, entities: Object.fromEntries(declared.reverse().map(([, name, value]) => [name, value])) };
}

function parse({ rest, entities }: ReturnType<typeof withoutDoctype>): SvgElement {
  const version = { defaultXMLVersion: '1.0', forceXMLVersion: true } as const;
  const parser = new SaxesParser({ xmlns: true, position: false, ...version });
  Object.assign(parser.ENTITIES, entities);
  const open: SvgElement[] = [];
  let root: SvgElement | undefined;
  let elements = 0;
  let depth = 0;
  /** The depth of the element of another namespace that the parser is in. Nothing in it is kept. */
  let foreignDepth = 0;

  parser.on('opentag', (tag) => {
    elements += 1;
    depth += 1;
    if (elements > BOUNDS.elements) throw tooMuch('elements', BOUNDS.elements);
    if (depth > BOUNDS.depth) throw tooMuch('nested elements', BOUNDS.depth);
    if (foreignDepth > 0) return;
    if (tag.uri !== SVG_NAMESPACE && tag.uri !== '') {
      if (root === undefined) throw notSvg(tag.name);
      foreignDepth = depth;
      return;
    }
    if (root === undefined && tag.local !== 'svg') throw notSvg(tag.local);
    const element = { name: tag.local, attributes: attributesOf(tag), children: [] };
    open.at(-1)?.children.push(element);
    open.push(element);
    root ??= element;
  });
  parser.on('closetag', () => {
    if (foreignDepth === 0) open.pop();
    else if (foreignDepth === depth) foreignDepth = 0;
    depth -= 1;
  });
  const keepText = (piece: string) => {
    const parent = open.at(-1);
    if (foreignDepth === 0 && parent !== undefined && WITH_TEXT.has(parent.name)) parent.children.push(piece);
  };
  parser.on('text', keepText);
  parser.on('cdata', keepText);
  parser.on('error', ({ message }) => {
    throw new Refused(
      `the SVG is not well-formed XML (${message.slice(0, 200)}): save it again as plain SVG`,
    );
  });
  parser.write(rest).close();
  if (root === undefined) throw new Refused('the SVG has no elements: draw something in it');
  return root;
}

function attributesOf({ attributes }: SaxesTagNS): Map<string, string> {
  const all: SaxesAttributeNS[] = Object.values(attributes);
  if (all.length > BOUNDS.attributes) throw tooMuch('attributes of one element', BOUNDS.attributes);
  const kept = new Map<string, string>();
  for (const { uri, local, value } of all) {
    if (value.length > BOUNDS.value) throw tooMuch('characters of one attribute', BOUNDS.value);
    const name = uri === XML ? `xml:${local}` : local;
    if (uri === '' || uri === XML) kept.set(name, value.replace(/[\t\n\r]/g, ' '));
    else if (uri === XLINK && local === 'href' && !kept.has('href')) kept.set('href', value);
  }
  const own = attributes.href?.value;
  if (own !== undefined) kept.set('href', own);
  return kept;
}

function notSvg(root: string): Refused {
  return new Refused(`the file is XML with the root ${root.slice(0, 40)}: send an SVG`);
}

function tooMuch(what: string, limit: number): Refused {
  return new Refused(`the SVG has more than ${limit} ${what}: simplify it`);
}
