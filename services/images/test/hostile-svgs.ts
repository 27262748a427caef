import type { Dice, Recipe } from './dice.ts';
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

/** Returns a drawing with markup in random harmless elements. */
function hiddenIn(dice: Dice, markup: string): Buffer {
  const wrap = dice.pick(PARTS.wraps);
  return dice.roll(2) === 0 ? svg(markup) : hiddenIn(dice, `<${wrap}>${markup}</${wrap}>`);
}

/** How drawings run code, call out, or grow. */
export const HOSTILE_SVGS: Record<string, Recipe> = {
  script: (dice) => {
    const name = dice.pick(['script', dice.inAnyCase('script'), 'svg:script', 'h:script', 'x:script']);
    const spaces = `xmlns:svg="${SVG}" xmlns:h="http://www.w3.org/1999/xhtml" xmlns:x="${dice.pick([SVG, 'urn:x', 'http://www.w3.org/1998/Math/MathML'])}"`;
    const code = dice.pick(PARTS.code);
    const data = `<![CDATA[${code}]]>`.replace(']]>*/', '*/');
    const body = dice.pick([escaped(code), data, '', `<!-- ${code} -->`]);
    const type = dice.pick(['text/javascript', 'module', 'x']);
    return hiddenIn(dice, element(name, `${spaces} type="${type}" href="${dice.pick(PARTS.links)}"`, body));
  },
  handler: (dice) => {
    const name = dice.pick(PARTS.handlers);
    const handler = dice.pick([name, dice.inAnyCase(name), `x:${name}`, `${name}.x`]);
    const attribute = `xmlns:x="${SVG}" ${handler}="${escaped(dice.pick(PARTS.code))}"`;
    return dice.roll(2) === 0
      ? svg('', `viewBox="0 0 10 10" ${attribute}`)
      : hiddenIn(dice, `<${dice.pick(['rect', 'g', 'set', 'style', 'image2'])} ${attribute}/>`);
  },
  link: (dice) => {
    const attribute = `${dice.pick(PARTS.attributes)}="${dice.pick(PARTS.links)}"`;
    return hiddenIn(dice, element(dice.pick(PARTS.carriers), attribute, 'x'));
  },
  animation: (dice) => {
    const name = dice.pick(['animate', 'set', 'animateTransform', 'animateMotion', 'discard', 'ANIMATE']);
    const target = dice.pick(['href', 'xlink:href', 'onload', 'd', 'fill']);
    return svg(
      `<a href="#s"><${name} attributeName="${target}" to="${dice.pick(PARTS.links)}" values="${dice.pick(PARTS.links)};x" begin="0s" dur="indefinite"/>${SHAPE}</a>`,
    );
  },
  foreign: (dice) => {
    const name = dice.pick(['foreignObject', 'foreignobject', 'FOREIGNOBJECT', 'switch']);
    const html = element('div', 'xmlns="http://www.w3.org/1999/xhtml"', dice.pick(PARTS.html));
    return svg(element(name, 'width="9" height="9"', html));
  },
  entities: (dice) => {
    const levels = 2 + dice.roll(30);
    const bomb = repeated(levels, (level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`);
    const outside = dice.pick(PARTS.outside);
    const named = repeated(levels, (level) => `<!ENTITY ns_e${level + 1} "${`&ns_e${level};`.repeat(10)}">`);
    const space = dice.pick([
      SVG,
      'http://www.w3.org/1999/xlink',
      'javascript:alert(1)',
      'data:text/html,x',
      'a'.repeat(200),
    ]);
    const subset = dice.pick([
      '',
      `<!ENTITY ns_e0 "${space}">${named}`,
      `<!ENTITY ns_e${levels} "${space}">`.repeat(1 + dice.roll(50)),
      `<!ENTITY ns_e${levels} ${outside}>`,
      `<!ENTITY e0 "ha">${bomb}`,
      `<!ENTITY e${levels} ${outside}>`,
      `<!ENTITY % p ${outside}>%p;`,
      `<!ATTLIST svg onload CDATA "alert(1)">`,
    ]);
    const use = dice.pick([
      `&e${levels};`,
      `&ns_e${levels};`,
      `&ns_e${levels};`.repeat(dice.pick([99, 9999, 99_999])),
    ]);
    const carrier = dice.pick([
      `<text>${use}</text>`,
      `<x:script xmlns:x="${use}" href="${use}"/>`,
      `<use href="${use}" style="fill:${use}"/>`,
    ]);
    const text = svg(carrier, undefined, `${dice.pick(PARTS.doctypes)}${subset}]>`);
    return dice.roll(4) === 0
      ? Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text.toString(), 'utf16le')])
      : text;
  },
  recursion: (dice) => {
    const depth = 2 + dice.roll(40);
    const width = 2 + dice.roll(9);
    const use = (level: number) =>
      dice.pick([`<use href="#u${level}"/>`, `<rect width="9" height="9" fill="url(#u${level})"/>`]);
    const growth = repeated(depth, (level) =>
      element('pattern', `id="u${level}" width="2" height="2"`, use(level + 1).repeat(width)),
    );
    return svg(dice.pick([...PARTS.loops, `${growth}<rect width="9" height="9" fill="url(#u0)"/>`]));
  },
  size: (dice) => {
    const number = () => dice.pick(PARTS.sizes);
    const box = dice.roll(2) === 0 ? '' : `viewBox="${number()} ${number()} ${number()} ${number()}"`;
    return svg('', `width="${number()}" height="${number()}" ${box}`);
  },
  shapes: (dice) => {
    const number = () =>
      dice.pick(['0', '-1', '1e30', '1e308', '1e-300', '9'.repeat(500), '.', '-', '1e', 'NaN']);
    const step = () => `${dice.pick([...'MmLlHhVvCcSsQqTtAaZz'])}${number()} ${number()}`;
    const d = repeated(1 + dice.roll(400), step);
    return svg(
      `<path stroke="red" stroke-width="${number()}" stroke-dasharray="${number()} ${number()}" d="${d}"/><circle r="${number()}"/><g transform="scale(${number()}) rotate(${number()})">${SHAPE}</g>`,
    );
  },
  nesting: (dice) => {
    const depth = dice.pick([10, 60, 100, 1000, 20_000]);
    const name = dice.pick(['g', 'svg', 'a', 'text', 'switch', 'x', 'g opacity=".9"', 'mask', 'style']);
    return svg(`<${name}>`.repeat(depth) + SHAPE + `</${name.split(' ')[0]}>`.repeat(depth));
  },
  many: (dice) => {
    const count = dice.pick([100, 5000, 20_000]);
    const one = dice.pick(PARTS.elements);
    return svg(
      dice.pick([
        one.repeat(count),
        `<g${repeated(count, (index) => ` a${index}="1"`)}/>`,
        `<path d="M0 0${' 1 2'.repeat(count)}"/>`,
      ]),
    );
  },
  filters: (dice) => {
    const big = dice.pick(['9', '1e9', '1e30', '99999']);
    const parts = [
      `<feGaussianBlur stdDeviation="${big}"/>`,
      `<feTurbulence numOctaves="${big}" baseFrequency="${big}"/>`,
      `<feMorphology operator="dilate" radius="${big}"/>`,
      `<feConvolveMatrix order="${big}" kernelMatrix="1"/>`,
      `<feOffset dx="${big}"/>`,
      `<feDropShadow dx="${big}" stdDeviation="${big}"/>`,
      `<feComponentTransfer><feFuncR type="table" tableValues="${'1 '.repeat(5000)}"/></feComponentTransfer>`,
    ];
    const filter = repeated(1 + dice.roll(30), () => dice.pick(parts));
    const depth = 1 + dice.roll(50);
    const filtered = `${'<g filter="url(#f)">'.repeat(depth)}${SHAPE.repeat(1 + dice.roll(40))}${'</g>'.repeat(depth)}`;
    const region = `id="f" x="-${big}" y="-1" width="${big}" height="${big}"`;
    return svg(element('filter', region, filter) + filtered);
  },
  css: (dice) => {
    const rules = [
      ...PARTS.css,
      `*{fill:${'('.repeat(5000)}}`,
      `${'*>'.repeat(3000)}*{fill:red}`,
      `a:not(${'b,'.repeat(2000)}c){fill:red}`,
      '/* */'.repeat(3000),
    ];
    const css = repeated(1 + dice.roll(4), () => dice.pick(rules));
    return dice.roll(3) === 0
      ? svg(`<g style="${css.replace(/<[^>]*>/g, '').replaceAll('"', '&quot;')}">${SHAPE}</g>`)
      : svg(`<style>${css}</style>`);
  },
  malformed: (dice) => {
    const breaks: ((text: string) => string)[] = [
      (text) => text.slice(0, dice.roll(text.length)),
      ...PARTS.paths.map((path) => (text: string) => text.replace('<path', path)),
      (text) => text.replace('</svg>', '</svg><script>1</script>'),
      (text) => text.replace(`xmlns="${SVG}"`, dice.pick(PARTS.spaces)),
      (text) => `<?xml version="1.1" encoding="${dice.pick(PARTS.encodings)}"?>${text}`,
      (text) => text.replaceAll('"', "'").replace('viewBox', 'viewBox=x y'),
    ];
    return Buffer.from(dice.pick(breaks)(dice.pick(Object.values(LOGOS))));
  },
  image: (dice) => {
    const name = dice.pick(['image', 'feImage', 'svg:image', 'IMAGE', 'img', 'video']);
    const link = dice.pick([...PARTS.links, 'data:image/png;base64,iVBORw0KGgo=']);
    return svg(`<${name} xmlns:svg="${SVG}" width="9" height="9" xlink:href="${link}"/>`);
  },
  changed: (dice) => {
    const file = Buffer.from(dice.pick(Object.values(LOGOS)));
    for (let count = 1 + dice.roll(20); count > 0; count -= 1) file[dice.roll(file.length)] = dice.roll(128);
    return file;
  },
  'many filters on the whole picture': (dice) => {
    const filter =
      '<filter id="f" x="0" y="0" width="1" height="1"><feGaussianBlur stdDeviation="0.03"/></filter>';
    const rect = '<rect width="10" height="10" fill="#c33" filter="url(#f)"/>';
    return svg(filter + rect.repeat(80 + dice.roll(120)));
  },
  'patterns for all shapes of groups': (dice) => {
    const shapes = '<rect width="1" height="1"/>'.repeat(20 + dice.roll(80));
    const groups = repeated(2 + dice.roll(8), (number) => {
      const pattern = element('pattern', `id="p${number}" width="1" height="1"`, shapes);
      return element('g', `${dice.pick(['fill', 'stroke'])}="url(#p${number + 1})"`, pattern);
    });
    return svg(`${groups}<g fill="url(#p0)" stroke="url(#p0)">${shapes.repeat(5)}</g>`);
  },
};
