import fc from 'fast-check';
import sharp from 'sharp';
import * as simpleIcons from 'simple-icons';
import { afterAll, describe, expect, it } from 'vitest';
import { drawPixels, MEASURED_FINELY, type Pixels } from '../src/drawing/draw.ts';
import type { Form } from '../src/image/image.ts';
import { readableColour } from '../src/ingest/colours.ts';
import { contrastOf, contrastOn, isReadableOn, READABLE, type Rgb } from '../src/ingest/contrast.ts';
import { type Ingested, ingest, PAGES } from '../src/ingest/ingest.ts';
import { LOGOS } from './logos.ts';

/** READABLE_ICONS=all measures all icons of simple-icons, which takes some minutes. Otherwise each 30th is measured. */
const EVERY = process.env.READABLE_ICONS === 'all' ? 1 : 30;

const SVG = 'xmlns="http://www.w3.org/2000/svg"';
const square = (inside: string) => `<svg ${SVG} viewBox="0 0 100 100">${inside}</svg>`;
const ingestText = (text: string) => ingest(Buffer.from(text), { kind: 'logo' });
/**
 * Returns the contrast of a form. Fine lines are faint in the small drawing, so the larger one is measured if the small one is
 * too faint.
 */
async function measured({ bytes }: Form, theme: 'light' | 'dark'): Promise<number> {
  const contrast = contrastOn(await drawPixels(bytes), PAGES[theme]) ?? 0;
  if (contrast >= READABLE) return contrast;
  return contrastOn(await drawPixels(bytes, MEASURED_FINELY), PAGES[theme]) ?? 0;
}
const formOf = ({ light, dark }: Ingested, theme: 'light' | 'dark') => (theme === 'dark' && dark) || light;
const textOf = ({ bytes }: Form) => Buffer.from(bytes).toString();

async function expectReadable(made: Ingested): Promise<void> {
  for (const theme of ['light', 'dark'] as const)
    expect(await measured(formOf(made, theme), theme), theme).toBeGreaterThanOrEqual(READABLE);
}

/**
 * Returns a picture drawn with characters, 16 pixels each: `#` black, `o` white, `y` yellow, `-` half-transparent black, ` `
 * nothing.
 */
function picture(...rows: string[]): Pixels {
  const colours: Record<string, number[]> = {
    '#': [0, 0, 0, 255],
    o: [255, 255, 255, 255],
    y: [255, 230, 0, 255],
    '-': [0, 0, 0, 128],
  };
  const scale = 16;
  const width = (rows[0]?.length ?? 0) * scale;
  const data = Uint8Array.from({ length: width * rows.length * scale * 4 }, (_, index) => {
    const pixel = Math.floor(index / 4);
    const row = rows[Math.floor(pixel / width / scale)] ?? '';
    return colours[row[Math.floor((pixel % width) / scale)] ?? ' ']?.[index % 4] ?? 0;
  });
  return { data, width, height: rows.length * scale };
}

describe('the contrast of a picture with a page', () => {
  const white: Rgb = [255, 255, 255];

  it('of two colours is WCAG’s', () => {
    expect(contrastOf([0, 0, 0], white)).toBeCloseTo(21);
    expect(contrastOf([119, 119, 119], white)).toBeCloseTo(4.48, 2);
    expect(contrastOf(white, PAGES.dark)).toBeCloseTo(18.88, 2);
  });

  it.each<[string, Pixels, boolean]>([
    ['black on the page is', picture('     ', ' ### ', '     '), true],
    ['white on the page is not', picture('     ', ' ooo ', '     '), false],
    ['white within black is', picture('     ', ' ### ', ' #o# ', ' ### ', '     '), true],
    ['white beside black is not', picture('       ', ' ##oo  ', '       '), false],
    [
      'white that reaches the page through a gap is not',
      picture('#####', '#ooo#', '#ooo#', '##o##', '     '),
      false,
    ],
    ['yellow is not', picture(' yyy '), false],
    ['half-transparent black is, since grey is seen', picture('     ', ' --- ', '     '), true],
    ['black on a white background up to the edges is', picture('ooooo', 'o###o', 'ooooo'), true],
    ['yellow on a white background up to the edges is not', picture('ooooo', 'oyyyo', 'ooooo'), false],
  ])('%s readable', (_, pixels, isReadable) => {
    expect((contrastOn(pixels, white) ?? 0) >= READABLE).toBe(isReadable);
  });

  it('is that of all but a twentieth of the painted area', () => {
    const row = '#'.repeat(96);
    expect(contrastOn(picture(`${row}oooo`), white)).toBeGreaterThan(20);
    expect(contrastOn(picture(`${row.slice(4)}oooooooo`), white)).toBe(1);
  });

  it('does not exist if nothing is painted', () => {
    expect(contrastOn(picture('   '), white)).toBeUndefined();
    expect(isReadableOn(picture('   '), white)).toBeUndefined();
  });
});

const anyColour = fc.tuple(
  ...([0, 1, 2].map(() => fc.integer({ min: 0, max: 255 })) as [
    fc.Arbitrary<number>,
    fc.Arbitrary<number>,
    fc.Arbitrary<number>,
  ]),
);

/** Colours and opacities near all the bounds that decide, in areas small enough to be within one another. */
const anyPicture = fc
  .record({
    width: fc.integer({ min: 3, max: 9 }),
    height: fc.integer({ min: 3, max: 9 }),
    colours: fc.array(fc.tuple(anyColour, fc.constantFrom(0, 60, 128, 200, 252, 255)), {
      minLength: 1,
      maxLength: 4,
    }),
    areas: fc.array(fc.nat(), { minLength: 81, maxLength: 81 }),
    isUniform: fc.boolean(),
  })
  .map(({ width, height, colours, areas, isUniform }): Pixels => {
    // The area at the edges may be of one colour, which is a background if it is opaque.
    const isEdge = (x: number, y: number) => x === 0 || y === 0 || x === width - 1 || y === height - 1;
    const data = Array.from({ length: width * height }, (_, at) => {
      const chosen = isUniform && isEdge(at % width, Math.floor(at / width)) ? 0 : (areas[at] ?? 0);
      const [colour, alpha] = colours[chosen % colours.length] ?? [[0, 0, 0], 0];
      return [...colour, alpha];
    });
    return { data: Uint8Array.from(data.flat()), width, height };
  });

describe('a picture', () => {
  it('is readable exactly if its contrast is, whatever it paints', () => {
    const outcomes = new Map<string, number>();
    fc.assert(
      fc.property(anyPicture, fc.constantFrom(PAGES.light, PAGES.dark), (pixels, page) => {
        const contrast = contrastOn(pixels, page);
        const expected = contrast === undefined ? undefined : contrast >= READABLE;
        expect(isReadableOn(pixels, page)).toBe(expected);
        outcomes.set(String(expected), (outcomes.get(String(expected)) ?? 0) + 1);
      }),
      { numRuns: 2_000 },
    );
    for (const outcome of ['true', 'false']) expect(outcomes.get(outcome)).toBeGreaterThan(200);
  });
});

const hex = (colour: Rgb) => `#${colour.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;

describe('a colour made readable', () => {
  it('has the contrast on both pages, and stays as it is if it had it', () => {
    fc.assert(
      fc.property(anyColour, fc.constantFrom(PAGES.light, PAGES.dark), (colour, page) => {
        const readable = readableColour(colour, page);
        expect(contrastOf(readable, page)).toBeGreaterThanOrEqual(READABLE);
        if (contrastOf(colour, page) >= READABLE) expect(readable).toEqual(colour);
        expect(readableColour(readable, page)).toEqual(readable);
      }),
    );
  });

  it.each<[string, Rgb, 'light' | 'dark', Rgb]>([
    ['black becomes white on a dark page', [0, 0, 0], 'dark', [255, 255, 255]],
    ['white becomes nearly black on a light page', [255, 255, 255], 'light', [17, 17, 17]],
  ])('%s', (_, colour, theme, expected) => {
    expect(readableColour(colour, PAGES[theme])).toEqual(expected);
  });

  it('keeps its hue', () => {
    const [red, green, blue] = readableColour([255, 214, 0], PAGES.light);
    expect(red).toBeGreaterThan(green);
    expect(green).toBeGreaterThan(blue + 60);
  });
});

describe('the forms of a logo', () => {
  it('are as given if they can be read, and one form then serves both themes', async () => {
    const made = await ingestText(square('<circle cx="50" cy="50" r="40" fill="#e02020"/>'));
    expect(made).toMatchObject({ treatments: { light: 'as_given', dark: 'as_given' } });
    expect(made.dark).toBeUndefined();
  });

  it.each([
    ['without a stated colour', '<circle cx="50" cy="50" r="40"/>'],
    ['stated by an attribute', '<circle cx="50" cy="50" r="40" fill="#000"/>'],
    ['stated in a style', '<g style="fill:black"><circle cx="50" cy="50" r="40"/></g>'],
    [
      'stated in a style sheet',
      '<style>.a{fill:#000!important;stroke:#000}</style><circle class="a" cx="50" cy="50" r="30"/>',
    ],
    ['of a stroke', '<circle cx="50" cy="50" r="40" fill="none" stroke="#111" stroke-width="9"/>'],
    ['of a use', '<defs><path id="p" d="M9 9h80v80z" fill="#000"/></defs><use href="#p"/>'],
    [
      'behind a mask',
      '<mask id="m"><rect width="100" height="100" fill="#fff"/><rect x="40" width="20" height="100"/></mask><rect width="100" height="100" mask="url(#m)"/>',
    ],
  ])('have another colour if there is one colour, %s', async (_, inside) => {
    const made = await ingestText(square(inside));
    expect(made.treatments).toEqual({ light: 'as_given', dark: 'recoloured' });
    await expectReadable(made);
    const alpha = async ({ bytes }: Form) =>
      (await drawPixels(bytes)).data.filter((_value, index) => index % 4 === 3);
    const [before, after] = await Promise.all([alpha(made.light), alpha(formOf(made, 'dark'))]);
    expect(after.every((value, index) => Math.abs(value - (before[index] ?? 0)) <= 4)).toBe(true);
  });

  it('have a plate with rounded corners if there are several colours', async () => {
    const made = await ingestText(
      square(
        '<rect x="5" y="5" width="90" height="45" fill="#ffe600"/><rect x="5" y="50" width="90" height="45" fill="#e02020"/>',
      ),
    );
    expect(made.treatments).toEqual({ light: 'plate', dark: 'as_given' });
    expect(textOf(made.light)).toMatch(/<rect [^>]*rx="\d+" style="fill:#111111/);
    await expectReadable(made);
  });

  it('have a plate that no style sheet of the mark reaches', async () => {
    const made = await ingestText(
      square(
        '<style>rect{fill:#fff;opacity:0}.a{fill:#ffe600}</style><circle class="a" cx="30" cy="50" r="25"/><circle cx="75" cy="50" r="20" fill="#fff"/>',
      ),
    );
    expect(made.treatments.light).toBe('plate');
    await expectReadable(made);
  });

  it('of a raster have a plate too, within the same size', async () => {
    const file = await sharp(Buffer.from(square('<circle cx="50" cy="50" r="45"/>')))
      .resize(200)
      .png()
      .toBuffer();
    const made = await ingest(file, { kind: 'logo' });
    expect(made.treatments).toEqual({ light: 'as_given', dark: 'plate' });
    expect(made.dark).toMatchObject({ format: 'png', width: 200, height: 200 });
    await expectReadable(made);
  });

  it('of fine lines are not taken for faint', async () => {
    const lines = Array.from({ length: 20 }, (_, index) => `M0 ${index * 5}h100`).join('');
    const made = await ingestText(square(`<path d="${lines}" stroke="#326cac" stroke-width=".6"/>`));
    expect(made.treatments).toEqual({ light: 'as_given', dark: 'as_given' });
  });

  it('can be two files', async () => {
    const dark = Buffer.from(square('<rect width="90" height="90" fill="#9cf"/>'));
    const made = await ingest(Buffer.from(square('<rect width="90" height="90" fill="#036"/>')), {
      kind: 'logo',
      dark,
    });
    expect(made.treatments).toEqual({ light: 'as_given', dark: 'as_given' });
    expect(textOf(formOf(made, 'dark'))).toContain('#9cf');
  });

  it('of a banner stay as given', async () => {
    const made = await ingest(Buffer.from(square('<rect width="100" height="100" fill="#fff"/>')), {
      kind: 'banner',
    });
    expect(made.treatments).toEqual({ light: 'as_given', dark: 'as_given' });
  });

  it('are readable for any two shapes in any colours, and ingesting them again changes nothing', async () => {
    const logos = fc.record({ one: anyColour, other: anyColour, apart: fc.boolean(), raster: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(logos, async ({ one, other, apart, raster }) => {
        const second = apart
          ? 'x="60" y="10" width="30" height="80"'
          : 'x="20" y="30" width="20" height="30"';
        const text = square(
          `<rect x="10" y="10" width="40" height="80" fill="${hex(one)}"/><rect ${second} fill="${hex(other)}"/>`,
        );
        const file = raster ? await sharp(Buffer.from(text)).resize(96).png().toBuffer() : Buffer.from(text);
        const made = await ingest(file, { kind: 'logo' });
        await expectReadable(made);
        const again = await ingest(made.light.bytes, { kind: 'logo', dark: formOf(made, 'dark').bytes });
        expect(again).toEqual({ ...made, treatments: { light: 'as_given', dark: 'as_given' } });
      }),
      { numRuns: 25, endOnFailure: true },
    );
  });

  it.each(Object.entries(LOGOS))('are readable and final for a logo with %s', async (_, text) => {
    const made = await ingestText(text);
    await expectReadable(made);
    const again = await ingest(made.light.bytes, { kind: 'logo', dark: formOf(made, 'dark').bytes });
    expect(again).toEqual({ ...made, treatments: { light: 'as_given', dark: 'as_given' } });
  });
});

describe('the icons of simple-icons', () => {
  const icons = Object.values(simpleIcons)
    .flatMap((icon) => ('slug' in icon ? [icon] : []))
    .filter((_, index) => index % EVERY === 0);
  const shares = new Map<string, number>();
  afterAll(() => {
    const parts = [...shares]
      .sort()
      .map(([name, count]) => `${name} ${((count / icons.length) * 100).toFixed(1)} %`);
    process.stdout.write(`${icons.length} icons: ${parts.join(', ')}\n`);
  });

  it('are all readable in both forms', { timeout: 1_200_000 }, async () => {
    for (const { svg, hex: colour, slug } of icons) {
      const made = await ingestText(svg.replace('<svg ', `<svg fill="#${colour}" `));
      for (const theme of ['light', 'dark'] as const) {
        expect(await measured(formOf(made, theme), theme), `${slug} ${theme}`).toBeGreaterThanOrEqual(
          READABLE,
        );
        const share = `${theme} ${made.treatments[theme]}`;
        shares.set(share, (shares.get(share) ?? 0) + 1);
      }
    }
  });
});
