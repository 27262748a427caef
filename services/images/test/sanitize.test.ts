import { createRandom } from '@brand-data/testing/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawPixels } from '../src/drawing/draw.ts';
import { ingest } from '../src/ingest/ingest.ts';
import { readDrawing } from '../src/ingest/svg.ts';
import { scaled } from '../src/svg/svg-size.ts';
import { HOSTILE_SVGS } from './hostile-svgs.ts';
import { LOGOS } from './logos.ts';
import { dangersOf } from './safe-svg.ts';

const SVG = 'xmlns="http://www.w3.org/2000/svg"';
const XLINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"';
const shape = '<path d="M1 1h8v8z"/>';
const drawing = (inside: string, attributes = '') =>
  `<svg ${SVG} ${XLINK} viewBox="0 0 10 10" ${attributes}>${shape}${inside}</svg>`;
const read = async (text: string | Uint8Array) => readDrawing(Buffer.from(text), 512);
const sanitized = async (text: string) => Buffer.from((await read(text)).bytes).toString();

/** Six masks, of which each has ten elements with the next mask, by a style sheet. */
const masks = (selector: (index: number) => string, end = '') => {
  const indexes = Array.from({ length: 6 }, (_v, index) => index);
  const rules = indexes.map((i) => `${selector(i)}{mask:url(#m${i})}${end}`);
  const all = indexes.map((i) => `<mask id="m${i}">${`<rect class="m${i + 1}"/>`.repeat(10)}</mask>`);
  return `<style>${rules.join('').replaceAll('>', '&gt;')}</style>${all.join('')}`;
};

/** The drawing with an entity "ns_a" of its own. */
const entities = (value: string, text: string) => `<!DOCTYPE svg [<!ENTITY ns_a "${value}">]>${text}`;

const plain = `<svg ${SVG} width="512" height="512" viewBox="0 0 10 10"><path d="M1 1h8v8z" /></svg>`;

describe('what a drawing does not need is left out', () => {
  it.each([
    ['a script', drawing('<script>alert(1)</script>')],
    ['a script in any case', drawing('<SCRIPT>alert(1)</SCRIPT><Script/>')],
    [
      'a script under another prefix',
      drawing('<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>'),
    ],
    ['a script of HTML', drawing('<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>')],
    ['a script in a style', drawing('<style>&lt;/style>&lt;script>alert(1)&lt;/script></style>')],
    ['a script in CDATA of a style', drawing('<style><![CDATA[</style><script>alert(1)</script>]]></style>')],
    ['event handlers', drawing('', 'onload="alert(1)" ONCLICK="alert(1)" onbegin="x"')],
    [
      'a foreign object',
      drawing(
        '<foreignObject width="9" height="9"><body xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>',
      ),
    ],
    [
      'animations of links',
      drawing('<set attributeName="href" to="javascript:alert(1)"/><animate attributeName="xlink:href"/>'),
    ],
    ['frames and media', drawing('<iframe src="x"/><video/><audio/><object/><embed/><canvas/>')],
    ['comments and instructions', `<?xml-stylesheet href="http://a/b.css"?>${drawing('<!-- <script> -->')}`],
    ['rules that fetch', drawing('<style>@import url(//a/b);@font-face{src:url(//a)}</style>')],
    ['a base for references', drawing('', 'xml:base="http://a.example/"')],
  ])('%s', async (_, text) => {
    expect(await sanitized(text)).toBe(plain);
  });

  it.each([
    ['href of another document', '<use href="http://a.example/#a"/>'],
    ['href of data', '<use href="data:image/svg+xml,x#a"/>'],
    ['href of script', '<use xlink:href=" java&#115;cript:alert(1)"/>'],
    ['a marker of another document', '<g marker="url(http://a.example/#p)"/>'],
    ['a marker hidden by an escape', '<g marker="u\\72l(http://a.example/#p)"/>'],
    ['a marker in a style', '<g style="marker:url(//a.example/#p)"/>'],
    ['a style that escapes', '<g style="marker:\\75rl(//a)"/>'],
    [
      'an image in a style',
      '<g style="background:url(//a);behavior:url(#x);marker:image-set(&quot;a&quot; 1x)"/>',
    ],
    ['an expression', '<g style="opacity:expression(alert(1))"/>'],
  ])('%s', async (_, inside) => {
    const text = await sanitized(drawing(inside));
    expect(dangersOf(text)).toEqual([]);
    expect(text.replace(SVG, '')).not.toMatch(/a\.example|javascript|expression|url|\/\//i);
  });
});

describe('a file is refused, with what to do, if', () => {
  it.each([
    [
      'it has entities of its own',
      '<!DOCTYPE svg [<!ENTITY a "aaa">]><svg>&a;</svg>',
      /DOCTYPE or entities.*plain SVG/,
    ],
    [
      'it has an entity beside those of namespaces',
      '<!DOCTYPE svg [<!ENTITY ns_svg "http://www.w3.org/2000/svg"><!ENTITY st0 "fill:red">]><svg xmlns="&ns_svg;"/>',
      /DOCTYPE or entities/,
    ],
    ['an entity is in another one', entities('http://a/&ns_b;', drawing('')), /DOCTYPE or entities/],
    ['an entity has markup', entities('http://a/<x/>', drawing('')), /DOCTYPE or entities/],
    ['an entity is long', entities(`http://a/${'a'.repeat(200)}`, drawing('')), /DOCTYPE or entities/],
    [
      'an entity is outside the file',
      `<!DOCTYPE svg [<!ENTITY ns_a SYSTEM "file:///etc/passwd">]>${drawing('')}`,
      /DOCTYPE or entities/,
    ],
    [
      'it uses entities very often',
      entities('http://a/', drawing(`<text>${'&ns_a;'.repeat(257)}</text>`)),
      /256 uses of entities/,
    ],
    [
      'an entity is no address',
      entities('url', drawing('<g fill="&ns_a;(//a/#p)"/>')),
      /DOCTYPE or entities/,
    ],
    ['its DOCTYPE is of another kind', `<!doctype html><svg ${SVG}/>`, /DOCTYPE/],
    ['it has two DOCTYPEs', `<!DOCTYPE svg><!DOCTYPE svg>${plain}`, /DOCTYPE/],
    ['an entity is not declared', drawing('<text>&nbsp;</text>'), /well-formed/],
    ['it is cut off', drawing('').slice(0, -9), /well-formed/],
    ['it is another language of XML', '<rss><channel/></rss>', /root rss: send an SVG/],
    ['it is in another encoding', `<?xml version="1.0" encoding="UTF-7"?>${plain}`, /UTF-7.*UTF-8/],
    [
      'it is not text',
      Buffer.concat([Buffer.from(drawing('')), Buffer.from([0xff, 0xfe])]),
      /not text in UTF-8/,
    ],
    ['it nests deeply', drawing('<g>'.repeat(100) + '</g>'.repeat(100)), /more than 64 nested elements/],
    ['it has very many elements', drawing('<g/>'.repeat(10_001)), /more than 10000 elements/],
    [
      'an element has very many attributes',
      drawing(`<g ${Array.from({ length: 101 }, (_v, i) => `a${i}=""`).join(' ')}/>`),
      /100 attributes/,
    ],
    ['a path is endless', drawing(`<path d="M0 0${' 1 1'.repeat(70_000)}"/>`), /262144 characters/],
    ['it is very large', drawing(`<!--${' '.repeat(1024 ** 2)}-->`), /at most 1048576/],
    ['an element refers to itself', drawing('<g id="a"><use href="#a"/></g>'), /refers to itself/],
    [
      'a pattern paints itself',
      drawing('<pattern id="p"><path fill="url(#p)"/></pattern>'),
      /refers to itself/,
    ],
    [
      'uses multiply',
      drawing(
        Array.from(
          { length: 20 },
          (_v, i) => `<g id="u${i}">${`<use href="#u${i + 1}"/>`.repeat(2)}</g>`,
        ).join(''),
      ),
      /20000 elements/,
    ],
    [
      'a pattern paints itself by an escape',
      drawing('<pattern id="p"><path fill="url(\\23 p)"/></pattern>'),
      /not taken/,
    ],
    [
      'a pattern paints itself by an escape in a style',
      drawing('<pattern id="p"><path style="fill:url(\\23 p)"/></pattern>'),
      /refers to itself/,
    ],
    [
      'a pattern with a long id paints itself',
      drawing(`<pattern id="${'p'.repeat(300)}"><path fill="url(#${'p'.repeat(300)})"/></pattern>`),
      /refers to itself/,
    ],
    [
      'a pattern whose id has spaces and another owner paints itself',
      drawing('<x id="p"/><pattern id=" p "><path fill="url(#p)"/></pattern>'),
      /refers to itself/,
    ],
    ['masks of a style sheet multiply', drawing(masks((i) => `.m${i}`)), /20000 elements/],
    [
      'masks of a selector of several parts multiply',
      drawing(masks((i) => `mask>rect.m${i},g rect.m${i}`)),
      /20000/,
    ],
    ['masks of a media query multiply', drawing(masks((i) => `@media all{.m${i}`, '}')), /20000 elements/],
    ['a transform nests deeply', drawing(`<g transform="${'('.repeat(2000)}"/>`), /nested too deeply/],
    ['a style nests deeply', drawing(`<g style="fill:${'('.repeat(2000)}"/>`), /nested too deeply/],
    [
      'a rule nests deeply',
      drawing(`<style>.a{fill:${'('.repeat(2000)}${')'.repeat(2000)}}</style>`),
      /nested too deeply/,
    ],
    ['it paints with another document', drawing('<g fill="url(http://a/#p)"/>'), /not taken.*#rrggbb/],
    ['a paint is hidden by an escape', drawing('<g fill="u\\72l(http://a/#p)"/>'), /not taken/],
    ['a style has a filter of another document', drawing('<g style="filter:url(//a/#p)"/>'), /not taken/],
    ['a colour is new', drawing('<g fill="oklch(0.6 0.2 20)"/>'), /fill="oklch.*#rrggbb/],
    ['a colour in a style is new', drawing('<g style="fill:oklch(0.6 0.2 20)"/>'), /fill:oklch/],
    ['a colour in a rule is new', drawing('<style>.a{stop-color:lab(1 2 3)}</style>'), /stop-color:lab/],
    [
      'a new colour stands alone in a rule',
      drawing('<style>.a{fill:red}.b{fill:lch(1 2 3)}</style>'),
      /fill:lch/,
    ],
    [
      'a new colour is of another property',
      drawing('<g style="stroke:red;fill:oklch(0.6 0.2 20)"/>'),
      /fill:oklch/,
    ],
    [
      'a new colour wins over other rules',
      drawing('<g style="fill:red;fill:lab(1 2 3)!important"/>'),
      /fill:lab/,
    ],
    [
      'what stands behind a colour is no colour',
      drawing('<g style="fill:red;fill:url(//a/#p)"/>'),
      /fill:url/,
    ],
    ['a colour is a variable', drawing('<g style="fill:var(--x)"/>'), /fill:var/],
    [
      'a colour is a variable that it sets',
      drawing('<style>:root{--x:red}</style><g style="fill:var(--x,blue)"/>'),
      /variable --x: write its value/,
    ],
    ['a rule names a type by its namespace', drawing('<style>*|path{mask:url(#m)}</style>'), /mask:url/],
    [
      'a mask shows itself by a class with a space that separates nothing',
      drawing('<style>.a\u00a0b{mask:url(#m)}</style><mask id="m"><path class="a\u00a0b"/></mask>'),
      /refers to itself/,
    ],
    ['a rule paints without a state', drawing('<style>path:not(:hover){fill:red}</style>'), /fill:red/],
    ['a rule paints by an attribute', drawing('<style>[r]{fill:red}</style>'), /fill:red/],
    ['a rule paints by an escape', drawing('<style>.\\31 b{fill:red}</style>'), /fill:red/],
    ['it shows a picture of another host', drawing('<image href="http://a/b.png"/>'), /element image.*PNG/],
    [
      'it contains a raster',
      drawing('<image xlink:href="data:image/png;base64,AAAA"/>'),
      /element image.*PNG/,
    ],
    [
      'a filter draws noise',
      drawing('<filter id="f"><feTurbulence numOctaves="99999"/></filter>'),
      /feTurbulence/,
    ],
    [
      'it has a size beyond measure',
      `<svg ${SVG} viewBox="0 0 1e30 1e30">${shape}</svg>`,
      /beyond all measure/,
    ],
    ['it is a line', `<svg ${SVG} viewBox="0 0 1000 1">${shape}</svg>`, /100 times/],
  ])('%s', async (_, text, why) => {
    await expect(read(text)).rejects.toThrow(
      expect.objectContaining({ name: 'Refused', message: expect.stringMatching(why) }),
    );
  });

  it('it has too many bytes once it is made safe, although the file has not', async () => {
    const withText = (length: number) => drawing(`<text>${'>'.repeat(length)}</text>`);
    expect((await read(withText(200_000))).bytes.length).toBeLessThan(1024 ** 2);
    await expect(read(withText(300_000))).rejects.toThrow(
      expect.objectContaining({ name: 'Refused', message: expect.stringMatching(/once it is made safe/) }),
    );
  });

  it('it draws nothing', async () => {
    await expect(ingest(Buffer.from(`<svg ${SVG} viewBox="0 0 9 9"/>`), { kind: 'logo' })).rejects.toThrow(
      /shows nothing/,
    );
  });
});

describe('what a drawing shows is kept', () => {
  const square = 'd="M0 0h9v9H0z"';
  it.each([
    ['a property in capitals', `<path style="FILL:#c33" ${square}/>`],
    ['the fallback of a variable', `<path style="fill:var(--x, #c33)" ${square}/>`],
    ['the fallback of a fallback', `<path fill="var(--x, var(--y, #c33))" ${square}/>`],
    ['a rule for all media', `<style>@media all{.a{fill:#c33}}</style><path class="a" ${square}/>`],
    ['a rule for screens', `<style>@media only screen{.a{FILL:#c33}}</style><path class="a" ${square}/>`],
    ['a rule that also has a state', `<style>.a,.b:hover{fill:#c33}</style><path class="a" ${square}/>`],
    [
      'a rule beside one that is left out',
      `<style>.a{fill:#c33}.\\31 b{cursor:pointer}.a:hover{fill:#000}</style><path class="a" ${square}/>`,
    ],
    ['the fallback of a new colour', `<path style="fill:#c33;fill:color(display-p3 .7 .2 .2)" ${square}/>`],
    [
      'the fallback of two',
      `<style>.a{fill:#c33;FILL:LAB(1 2 3);fill:oklch(.6 .2 20 / 1)}</style><path class="a" ${square}/>`,
    ],
    [
      'a rule beside one for dark pages',
      `<style>.a{fill:#c33}@media (prefers-color-scheme: dark){.a{fill:#fff}}</style><path class="a" ${square}/>`,
    ],
  ])('%s', async (_, inside) => {
    const { bytes } = await read(`<svg ${SVG} viewBox="0 0 9 9">${inside}</svg>`);
    const { data } = await drawPixels(bytes);
    expect([...data.subarray(0, 4)]).toEqual([204, 51, 51, 255]);
  });

  it.each([
    ['a shape', '<path d="M0 0h4v4H0z"><title>A</title><rect x="5" width="4" height="4"/></path>'],
    ['a use', '<use href="#a"><g><rect width="4" height="4"/></g></use>'],
    ['a stop', '<linearGradient><stop><rect width="4" height="4"/></stop></linearGradient>'],
    ['a primitive of a filter', '<filter><feFlood><feOffset/></feFlood></filter>'],
  ])('without what SVG does not draw in %s', async (_, inside) => {
    expect(await sanitized(drawing(inside))).not.toMatch(/<rect|<feOffset/);
  });

  it('with the gradient that a rule gives to a path of very many points', async () => {
    const stops = '<stop/>'.repeat(20);
    const inside = `<style>.a{fill:url(#g)}</style><linearGradient id="g">${stops}</linearGradient>`;
    const path = `<path class="a" d="M0 0${' 1 1'.repeat(2000)}"/>`;
    expect(await sanitized(drawing(inside + path))).toContain('fill:url(#g)');
  });
});

it('an entity of a namespace means its value, wherever it stands', async () => {
  const piece = fc.constantFrom(
    '&ns_svg;',
    '&ns_a;',
    '<svg xmlns="&ns_svg;"><rect width="2" height="2"/></svg>',
    '<x:script xmlns:x="&ns_svg;">1</x:script>',
    '<x:path xmlns:x="&ns_a;" d="M0 0h3v3z"/>',
    '<use href="&ns_a;#s"/>',
    '<text font-family="&ns_a;">&ns_svg;</text>',
    '<g style="opacity:.5;marker:&ns_a;(#x)"><path d="M2 2h3v3z"/></g>',
    '<style>.&ns_a;{opacity:.5}</style>',
  );
  const value = fc.constantFrom('http://www.w3.org/2000/svg', 'https://a.example/x', 'http://a/b#s');
  const answer = (text: string) => sanitized(text).catch((error: Error) => error.message);
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), value, async (pieces, given) => {
      const text = drawing(pieces.join(''));
      const declared = `<!DOCTYPE svg [<!ENTITY ns_svg "http://www.w3.org/2000/svg"> <!ENTITY ns_a "${given}"> ]>${text}`;
      const written = text.replaceAll('&ns_svg;', 'http://www.w3.org/2000/svg').replaceAll('&ns_a;', given);
      const safe = await answer(declared);
      expect(safe).toBe(await answer(written));
      if (safe.startsWith('<')) expect(dangersOf(safe)).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

/** The text in UTF-16, as programs write it: with a byte order mark or without one, the low byte first or the high one. */
const utf16 = (text: string, { mark, isBig }: { mark: string; isBig: boolean }) => {
  const bytes = Buffer.from(mark + text, 'utf16le');
  return isBig ? bytes.swap16() : bytes;
};

describe('a file in UTF-16', () => {
  const byteOrders = fc.record({ mark: fc.constantFrom('\uFEFF', ''), isBig: fc.boolean() });
  const answer = (file: Uint8Array) =>
    ingest(file, { kind: 'logo' }).catch(({ name, message }: Error) => ({ name, message }));

  it('is the same picture, or refused for the same reason, as in UTF-8', async () => {
    const { script, handler, link, foreign, entities, css, image } = HOSTILE_SVGS;
    const recipes = fc.constantFrom(script, handler, link, foreign, entities, css, image);
    const hostile = fc
      .tuple(recipes, fc.nat(999))
      .map(([recipe, seed]) => recipe?.(createRandom(seed)) ?? '');
    const kinds = [...Object.values(LOGOS), '<!doctype html><p>', '<rss/>', drawing('').slice(0, -9)];
    const files = fc.oneof(hostile, fc.constantFrom(...kinds));
    await fc.assert(
      fc.asyncProperty(files, byteOrders, async (file, byteOrder) => {
        const text = String(await file);
        fc.pre(text.length < 100_000 && text.startsWith('<'));
        expect(await answer(utf16(text, byteOrder))).toEqual(await answer(Buffer.from(text)));
      }),
      { numRuns: 25 },
    );
  });

  it.each(['UTF-16', 'utf-8', 'ISO-8859-1'])('is read, whatever encoding it declares: %s', async (name) => {
    const file = utf16(`<?xml version="1.0" encoding="${name}"?>${drawing('')}`, {
      mark: '\uFEFF',
      isBig: false,
    });
    expect(Buffer.from((await read(file)).bytes).toString()).toBe(plain);
  });

  it('is refused if half a character is in it', async () => {
    const file = utf16(drawing('<text>\uD800</text>'), { mark: '\uFEFF', isBig: false });
    await expect(read(file)).rejects.toThrow(/not text in UTF-16LE: save it in UTF-8/);
  });
});

describe('an ordinary logo', () => {
  it.each(Object.entries(LOGOS))('looks the same as before: %s', async (_, text) => {
    const form = await read(text);
    expect(dangersOf(Buffer.from(form.bytes).toString())).toEqual([]);
    expect(Math.max(form.width, form.height)).toBe(512);
    const [before, after] = await Promise.all([drawPixels(Buffer.from(text)), drawPixels(form.bytes)]);
    expect([after.width, after.height]).toEqual([before.width, before.height]);
    const differences = before.data.map((value, index) => Math.abs(value - (after.data[index] ?? 0)));
    expect(differences.filter((difference) => difference > 8).length / differences.length).toBeLessThan(
      0.001,
    );
    expect(before.data.some((value) => value > 0)).toBe(true);
  });

  it.each(Object.entries(LOGOS))('is not changed by sanitizing it again: %s', async (_, text) => {
    const once = await read(text);
    expect(await readDrawing(once.bytes, 512)).toEqual(once);
  });
});

describe('the size of a drawing', () => {
  it.each([
    ['a viewBox alone', 'viewBox="0 0 24 12"', [512, 256], '0 0 24 12'],
    ['width and height alone', 'width="10" height="40"', [128, 512], '0 0 10 40'],
    ['lengths in units', 'width="1in" height="48px"', [512, 256], '0 0 96 48'],
    ['both, of different shapes', 'width="10" height="10" viewBox="0 0 20 10"', [512, 512], '0 0 20 10'],
    ['percentages and a viewBox', 'width="100%" height="100%" viewBox="2,3,10,10"', [512, 512], '2 3 10 10'],
    ['lengths that are none', 'width="-1" height="x" viewBox="0 0 5 5"', [512, 512], '0 0 5 5'],
  ])('comes from %s', async (_, attributes, [width, height], viewBox) => {
    const form = await read(`<svg ${SVG} ${attributes}>${shape}</svg>`);
    expect(form).toMatchObject({ width, height });
    expect(Buffer.from(form.bytes).toString()).toContain(
      `width="${width}" height="${height}" viewBox="${viewBox}"`,
    );
  });

  it('is measured if the file states none', async () => {
    const form = await read(`<svg ${SVG}><rect x="300" y="100" width="80" height="40"/></svg>`);
    const box =
      /viewBox="([^"]+)"/.exec(Buffer.from(form.bytes).toString())?.[1]?.split(' ').map(Number) ?? [];
    for (const [index, side] of [300, 100, 80, 40].entries())
      expect(Math.abs((box[index] ?? 0) - side)).toBeLessThan(1);
  });

  it('keeps its shape when the longer side changes', () => {
    expect(scaled({ width: 300, height: 100 }, 64)).toEqual({ width: 64, height: 21 });
    expect(scaled({ width: 1, height: 1000 }, 64)).toEqual({ width: 1, height: 64 });
  });
});
