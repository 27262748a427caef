import type { Random } from '@brand-data/testing/random';
import PARTS from './hostile-parts.json' with { type: 'json' };
import { LOGOS } from './logos.ts';

export const SVG = 'http://www.w3.org/2000/svg';
const SHAPE = '<path id="s" d="M1 1h8v8z"/>';

export function svg(inside: string, attributes = 'viewBox="0 0 10 10"', before = ''): Buffer {
  return Buffer.from(
    `${before}<svg xmlns="${SVG}" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${SHAPE}${inside}</svg>`,
  );
}

function escaped(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function element(name: string, attributes: string, body: string): string {
  return `<${name} ${attributes}>${body}</${name}>`;
}

function repeated(count: number, part: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => part(index)).join('');
}

/** Returns the text in random upper and lower case. */
function inAnyCase(random: Random, text: string): string {
  return text.replace(/./gs, (letter) => random.pick([letter.toUpperCase(), letter.toLowerCase()]));
}

/** Returns a drawing with markup in random harmless elements. */
function hiddenIn(random: Random, markup: string): Buffer {
  const wrap = random.pick(PARTS.wraps);
  return random.chance(0.5) ? svg(markup) : hiddenIn(random, `<${wrap}>${markup}</${wrap}>`);
}

/** Makes a file by chance. */
export type Recipe = (random: Random) => Buffer | Promise<Buffer>;

/** How drawings run code, call out, or grow. */
export const HOSTILE_SVGS: Record<string, Recipe> = {
  script: (random) => {
    const name = random.pick(['script', inAnyCase(random, 'script'), 'svg:script', 'h:script', 'x:script']);
    const spaces = `xmlns:svg="${SVG}" xmlns:h="http://www.w3.org/1999/xhtml" xmlns:x="${random.pick([SVG, 'urn:x', 'http://www.w3.org/1998/Math/MathML'])}"`;
    const code = random.pick(PARTS.code);
    const data = `<![CDATA[${code}]]>`.replace(']]>*/', '*/');
    const body = random.pick([escaped(code), data, '', `<!-- ${code} -->`]);
    const type = random.pick(['text/javascript', 'module', 'x']);
    return hiddenIn(
      random,
      element(name, `${spaces} type="${type}" href="${random.pick(PARTS.links)}"`, body),
    );
  },
  handler: (random) => {
    const name = random.pick(PARTS.handlers);
    const handler = random.pick([name, inAnyCase(random, name), `x:${name}`, `${name}.x`]);
    const attribute = `xmlns:x="${SVG}" ${handler}="${escaped(random.pick(PARTS.code))}"`;
    return random.chance(0.5)
      ? svg('', `viewBox="0 0 10 10" ${attribute}`)
      : hiddenIn(random, `<${random.pick(['rect', 'g', 'set', 'style', 'image2'])} ${attribute}/>`);
  },
  link: (random) => {
    const attribute = `${random.pick(PARTS.attributes)}="${random.pick(PARTS.links)}"`;
    return hiddenIn(random, element(random.pick(PARTS.carriers), attribute, 'x'));
  },
  animation: (random) => {
    const name = random.pick(['animate', 'set', 'animateTransform', 'animateMotion', 'discard', 'ANIMATE']);
    const target = random.pick(['href', 'xlink:href', 'onload', 'd', 'fill']);
    return svg(
      `<a href="#s"><${name} attributeName="${target}" to="${random.pick(PARTS.links)}" values="${random.pick(PARTS.links)};x" begin="0s" dur="indefinite"/>${SHAPE}</a>`,
    );
  },
  foreign: (random) => {
    const name = random.pick(['foreignObject', 'foreignobject', 'FOREIGNOBJECT', 'switch']);
    const html = element('div', 'xmlns="http://www.w3.org/1999/xhtml"', random.pick(PARTS.html));
    return svg(element(name, 'width="9" height="9"', html));
  },
  entities: (random) => {
    const levels = 2 + random.below(30);
    const bomb = repeated(levels, (level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`);
    const outside = random.pick(PARTS.outside);
    const named = repeated(levels, (level) => `<!ENTITY ns_e${level + 1} "${`&ns_e${level};`.repeat(10)}">`);
    const space = random.pick([
      SVG,
      'http://www.w3.org/1999/xlink',
      'javascript:alert(1)',
      'data:text/html,x',
      'a'.repeat(200),
    ]);
    const subset = random.pick([
      '',
      `<!ENTITY ns_e0 "${space}">${named}`,
      `<!ENTITY ns_e${levels} "${space}">`.repeat(1 + random.below(50)),
      `<!ENTITY ns_e${levels} ${outside}>`,
      `<!ENTITY e0 "ha">${bomb}`,
      `<!ENTITY e${levels} ${outside}>`,
      `<!ENTITY % p ${outside}>%p;`,
      `<!ATTLIST svg onload CDATA "alert(1)">`,
    ]);
    const use = random.pick([
      `&e${levels};`,
      `&ns_e${levels};`,
      `&ns_e${levels};`.repeat(random.pick([99, 9999, 99_999])),
    ]);
    const carrier = random.pick([
      `<text>${use}</text>`,
      `<x:script xmlns:x="${use}" href="${use}"/>`,
      `<use href="${use}" style="fill:${use}"/>`,
    ]);
    const text = svg(carrier, undefined, `${random.pick(PARTS.doctypes)}${subset}]>`);
    return random.below(4) === 0
      ? Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text.toString(), 'utf16le')])
      : text;
  },
  recursion: (random) => {
    const depth = 2 + random.below(40);
    const width = 2 + random.below(9);
    const use = (level: number) =>
      random.pick([`<use href="#u${level}"/>`, `<rect width="9" height="9" fill="url(#u${level})"/>`]);
    const growth = repeated(depth, (level) =>
      element('pattern', `id="u${level}" width="2" height="2"`, use(level + 1).repeat(width)),
    );
    return svg(random.pick([...PARTS.loops, `${growth}<rect width="9" height="9" fill="url(#u0)"/>`]));
  },
  size: (random) => {
    const number = () => random.pick(PARTS.sizes);
    const box = random.chance(0.5) ? '' : `viewBox="${number()} ${number()} ${number()} ${number()}"`;
    return svg('', `width="${number()}" height="${number()}" ${box}`);
  },
  shapes: (random) => {
    const number = () =>
      random.pick(['0', '-1', '1e30', '1e308', '1e-300', '9'.repeat(500), '.', '-', '1e', 'NaN']);
    const step = () => `${random.pick([...'MmLlHhVvCcSsQqTtAaZz'])}${number()} ${number()}`;
    const d = repeated(1 + random.below(400), step);
    return svg(
      `<path stroke="red" stroke-width="${number()}" stroke-dasharray="${number()} ${number()}" d="${d}"/><circle r="${number()}"/><g transform="scale(${number()}) rotate(${number()})">${SHAPE}</g>`,
    );
  },
  nesting: (random) => {
    const depth = random.pick([10, 60, 100, 1000, 20_000]);
    const name = random.pick(['g', 'svg', 'a', 'text', 'switch', 'x', 'g opacity=".9"', 'mask', 'style']);
    return svg(`<${name}>`.repeat(depth) + SHAPE + `</${name.split(' ')[0]}>`.repeat(depth));
  },
  many: (random) => {
    const count = random.pick([100, 5000, 20_000]);
    const one = random.pick(PARTS.elements);
    return svg(
      random.pick([
        one.repeat(count),
        `<g${repeated(count, (index) => ` a${index}="1"`)}/>`,
        `<path d="M0 0${' 1 2'.repeat(count)}"/>`,
      ]),
    );
  },
  filters: (random) => {
    const big = random.pick(['9', '1e9', '1e30', '99999']);
    const parts = [
      `<feGaussianBlur stdDeviation="${big}"/>`,
      `<feTurbulence numOctaves="${big}" baseFrequency="${big}"/>`,
      `<feMorphology operator="dilate" radius="${big}"/>`,
      `<feConvolveMatrix order="${big}" kernelMatrix="1"/>`,
      `<feOffset dx="${big}"/>`,
      `<feDropShadow dx="${big}" stdDeviation="${big}"/>`,
      `<feComponentTransfer><feFuncR type="table" tableValues="${'1 '.repeat(5000)}"/></feComponentTransfer>`,
    ];
    const filter = repeated(1 + random.below(30), () => random.pick(parts));
    const depth = 1 + random.below(50);
    const filtered = `${'<g filter="url(#f)">'.repeat(depth)}${SHAPE.repeat(1 + random.below(40))}${'</g>'.repeat(depth)}`;
    const region = `id="f" x="-${big}" y="-1" width="${big}" height="${big}"`;
    return svg(element('filter', region, filter) + filtered);
  },
  css: (random) => {
    const rules = [
      ...PARTS.css,
      `*{fill:${'('.repeat(5000)}}`,
      `${'*>'.repeat(3000)}*{fill:red}`,
      `a:not(${'b,'.repeat(2000)}c){fill:red}`,
      '/* */'.repeat(3000),
    ];
    const css = repeated(1 + random.below(4), () => random.pick(rules));
    return random.below(3) === 0
      ? svg(`<g style="${css.replace(/<[^>]*>/g, '').replaceAll('"', '&quot;')}">${SHAPE}</g>`)
      : svg(`<style>${css}</style>`);
  },
  malformed: (random) => {
    const breaks: ((text: string) => string)[] = [
      (text) => text.slice(0, random.below(text.length)),
      ...PARTS.paths.map((path) => (text: string) => text.replace('<path', path)),
      (text) => text.replace('</svg>', '</svg><script>1</script>'),
      (text) => text.replace(`xmlns="${SVG}"`, random.pick(PARTS.spaces)),
      (text) => `<?xml version="1.1" encoding="${random.pick(PARTS.encodings)}"?>${text}`,
      (text) => text.replaceAll('"', "'").replace('viewBox', 'viewBox=x y'),
    ];
    return Buffer.from(random.pick(breaks)(random.pick(Object.values(LOGOS))));
  },
  image: (random) => {
    const name = random.pick(['image', 'feImage', 'svg:image', 'IMAGE', 'img', 'video']);
    const link = random.pick([...PARTS.links, 'data:image/png;base64,iVBORw0KGgo=']);
    return svg(`<${name} xmlns:svg="${SVG}" width="9" height="9" xlink:href="${link}"/>`);
  },
  changed: (random) => {
    const file = Buffer.from(random.pick(Object.values(LOGOS)));
    for (let count = 1 + random.below(20); count > 0; count -= 1)
      file[random.below(file.length)] = random.below(128);
    return file;
  },
  'many filters on the whole picture': (random) => {
    const filter =
      '<filter id="f" x="0" y="0" width="1" height="1"><feGaussianBlur stdDeviation="0.03"/></filter>';
    const rect = '<rect width="10" height="10" fill="#c33" filter="url(#f)"/>';
    return svg(filter + rect.repeat(80 + random.below(120)));
  },
  'patterns for all shapes of groups': (random) => {
    const shapes = '<rect width="1" height="1"/>'.repeat(20 + random.below(80));
    const groups = repeated(2 + random.below(8), (number) => {
      const pattern = element('pattern', `id="p${number}" width="1" height="1"`, shapes);
      return element('g', `${random.pick(['fill', 'stroke'])}="url(#p${number + 1})"`, pattern);
    });
    return svg(`${groups}<g fill="url(#p0)" stroke="url(#p0)">${shapes.repeat(5)}</g>`);
  },
};
