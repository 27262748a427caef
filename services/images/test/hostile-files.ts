import { deflateSync, gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { Dice, type Recipe } from './dice.ts';
import PARTS from './hostile-parts.json' with { type: 'json' };
import { HOSTILE_SVGS, SVG, svg } from './hostile-svgs.ts';

function plain(side: number, channels: 3 | 4, background: string) {
  return sharp({ create: { width: side, height: side, channels, background } });
}

/** Returns a drawing in few colours, as raw material for rasters. */
function raster(dice: Dice) {
  const side = dice.pick([1, 16, 100, 300]);
  const shape = `<svg xmlns="${SVG}" width="${side}" height="${side}"><circle cx="${side / 2}" cy="${side / 2}" r="${side / 3}" fill="#d02020"/></svg>`;
  return sharp(Buffer.from(shape));
}

async function encoded(dice: Dice): Promise<Buffer> {
  const image = raster(dice);
  const encodings = [
    () => image.png(),
    () => image.png({ progressive: true, palette: true }),
    () => image.toColourspace('rgb16').png(),
    () => image.flatten().jpeg(),
    () => image.flatten().toColourspace('cmyk').jpeg(),
    () => image.flatten().jpeg({ progressive: true }),
    () => image.webp(),
    () => image.webp({ lossless: true }),
    () => image.gif(),
    () => image.avif({ effort: 0 }),
  ];
  return dice.pick(encodings)().toBuffer();
}

/** Returns a chunk of a PNG, without its checksum being right. */
function pngChunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(type), data, Buffer.from([0, 0, 0, 0])]);
}

function pngHeader(side: number, depth: number, colours: number, interlaced: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([depth, colours, 0, 0, interlaced], 8);
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), pngChunk('IHDR', header)]);
}

const PAYLOAD = '<script>alert("PAYLOAD")</script>';

/** How other files harm what decodes them, or pass for what they are not. */
const HOSTILE_RASTERS: Record<string, Recipe> = {
  damaged: async (dice) => {
    const file = await encoded(dice);
    for (let count = 1 + dice.roll(30); count > 0; count -= 1)
      file[8 + dice.roll(file.length - 8)] = dice.roll(256);
    return file;
  },
  truncated: async (dice) => {
    const file = await encoded(dice);
    return file.subarray(0, dice.roll(file.length));
  },
  tail: async (dice) => {
    const starts = ['', 'PK\x03\x04', '%PDF-1.4', '\0'.repeat(100_000), 'GIF89a'];
    return Buffer.concat([await encoded(dice), Buffer.from(dice.pick(starts) + PAYLOAD)]);
  },
  head: async (dice) => Buffer.concat([Buffer.from(dice.pick(PARTS.heads)), await encoded(dice)]),
  metadata: async (dice) => {
    const IFD0 = { Copyright: PAYLOAD, ImageDescription: 'PAYLOAD'.repeat(500) };
    return raster(dice)
      .withExif({ IFD0 })
      .flatten()
      .toFormat(dice.pick(['png', 'jpeg', 'webp']))
      .toBuffer();
  },
  bomb: (dice) => {
    const side = dice.pick([1, 4000, 5000, 20_000, 60_000, 2_000_000_000]);
    const zeros = deflateSync(Buffer.alloc(dice.pick([100, 1_000_000, 60_000_000])));
    const body = [
      pngChunk('iCCP', Buffer.concat([Buffer.from('x\0\0'), zeros])),
      pngChunk('zTXt', Buffer.concat([Buffer.from('x\0\0'), zeros])),
      pngChunk('IDAT', zeros),
    ];
    return Buffer.concat([
      pngHeader(side, dice.pick([1, 8, 16]), dice.pick([0, 2, 3, 6]), dice.roll(2)),
      ...body.slice(dice.roll(3)),
      pngChunk('IEND', Buffer.alloc(0)),
    ]);
  },
  'real bomb': async (dice) => {
    const image = plain(dice.pick([3900, 4000, 4100]), 4, '#80808080');
    const encodings = [
      () => image.png({ progressive: true }),
      () => image.png(),
      () => image.toColourspace('rgb16').png({ progressive: true }),
      () => image.webp({ lossless: true, effort: 0 }),
      () => image.flatten().jpeg({ progressive: true }),
    ];
    return dice.pick(encodings)().toBuffer();
  },
  stated: async (dice) => {
    const gif = Buffer.from(
      'GIF89a\xff\xff\xff\xff\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\0\0\0\0\0,\0\0\0\0\xff\xff\xff\xff\0\x02\x02D\x01\0;',
      'latin1',
    );
    const webp = Buffer.from(`RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff`, 'latin1');
    const jpeg = await plain(9, 3, 'red').jpeg().toBuffer();
    const at = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
    jpeg.writeUInt32BE(0xffffffff, at + 5);
    return dice.pick([gif, webp, jpeg]);
  },
  animated: async (dice) => {
    const colours = Array.from({ length: 2 + dice.roll(20) }, () => dice.pick(['red', 'lime', 'blue']));
    const frames = await Promise.all(colours.map((colour) => plain(64, 3, colour).png().toBuffer()));
    return sharp(frames, { join: { animated: true } })
      .toFormat(dice.pick(['gif', 'webp']))
      .toBuffer();
  },
  packed: (dice) => {
    const inside = dice.pick([svg(''), Buffer.alloc(50_000_000), Buffer.from(PAYLOAD)]);
    return dice.pick([
      gzipSync(inside),
      deflateSync(inside),
      Buffer.concat([Buffer.from('PK\x03\x04\x14\0\0\0\x08\0'), deflateSync(inside)]),
    ]);
  },
  other: (dice) => Buffer.from(dice.pick(PARTS.otherFiles)),
  noise: (dice) => Buffer.from(Array.from({ length: dice.roll(3000) }, () => dice.roll(256))),
};

const RECIPES = [...Object.entries(HOSTILE_SVGS), ...Object.entries(HOSTILE_RASTERS)];

/** Returns the file of a number, always the same. Numbers that follow each other try one way of harm after another. */
export async function hostileFile(number: number): Promise<{ name: string; file: Buffer }> {
  const [name, recipe] = RECIPES[number % RECIPES.length] ?? ['', () => Buffer.alloc(0)];
  return { name: `${name} ${number}`, file: await recipe(new Dice(number)) };
}
