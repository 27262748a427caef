import { deflateSync, gzipSync } from 'node:zlib';
import { createRandom, type Random } from '@brand-data/testing/random';
import sharp from 'sharp';
import PARTS from './hostile-parts.json' with { type: 'json' };
import { HOSTILE_SVGS, type Recipe, SVG, svg } from './hostile-svgs.ts';

function plain(side: number, channels: 3 | 4, background: string) {
  return sharp({ create: { width: side, height: side, channels, background } });
}

/** Returns a drawing in few colours, as raw material for rasters. */
function raster(random: Random) {
  const side = random.pick([1, 16, 100, 300]);
  const shape = `<svg xmlns="${SVG}" width="${side}" height="${side}"><circle cx="${side / 2}" cy="${side / 2}" r="${side / 3}" fill="#d02020"/></svg>`;
  return sharp(Buffer.from(shape));
}

async function encoded(random: Random): Promise<Buffer> {
  const image = raster(random);
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
  return random.pick(encodings)().toBuffer();
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
  damaged: async (random) => {
    const file = await encoded(random);
    for (let count = 1 + random.below(30); count > 0; count -= 1)
      file[8 + random.below(file.length - 8)] = random.below(256);
    return file;
  },
  truncated: async (random) => {
    const file = await encoded(random);
    return file.subarray(0, random.below(file.length));
  },
  tail: async (random) => {
    const starts = ['', 'PK\x03\x04', '%PDF-1.4', '\0'.repeat(100_000), 'GIF89a'];
    return Buffer.concat([await encoded(random), Buffer.from(random.pick(starts) + PAYLOAD)]);
  },
  head: async (random) => Buffer.concat([Buffer.from(random.pick(PARTS.heads)), await encoded(random)]),
  metadata: async (random) => {
    const IFD0 = { Copyright: PAYLOAD, ImageDescription: 'PAYLOAD'.repeat(500) };
    return raster(random)
      .withExif({ IFD0 })
      .flatten()
      .toFormat(random.pick(['png', 'jpeg', 'webp']))
      .toBuffer();
  },
  bomb: (random) => {
    const side = random.pick([1, 4000, 5000, 20_000, 60_000, 2_000_000_000]);
    const zeros = deflateSync(Buffer.alloc(random.pick([100, 1_000_000, 60_000_000])));
    const body = [
      pngChunk('iCCP', Buffer.concat([Buffer.from('x\0\0'), zeros])),
      pngChunk('zTXt', Buffer.concat([Buffer.from('x\0\0'), zeros])),
      pngChunk('IDAT', zeros),
    ];
    return Buffer.concat([
      pngHeader(side, random.pick([1, 8, 16]), random.pick([0, 2, 3, 6]), random.below(2)),
      ...body.slice(random.below(3)),
      pngChunk('IEND', Buffer.alloc(0)),
    ]);
  },
  'real bomb': async (random) => {
    const image = plain(random.pick([3900, 4000, 4100]), 4, '#80808080');
    const encodings = [
      () => image.png({ progressive: true }),
      () => image.png(),
      () => image.toColourspace('rgb16').png({ progressive: true }),
      () => image.webp({ lossless: true, effort: 0 }),
      () => image.flatten().jpeg({ progressive: true }),
    ];
    return random.pick(encodings)().toBuffer();
  },
  stated: async (random) => {
    const gif = Buffer.from(
      'GIF89a\xff\xff\xff\xff\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\0\0\0\0\0,\0\0\0\0\xff\xff\xff\xff\0\x02\x02D\x01\0;',
      'latin1',
    );
    const webp = Buffer.from(`RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff`, 'latin1');
    const jpeg = await plain(9, 3, 'red').jpeg().toBuffer();
    const at = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
    jpeg.writeUInt32BE(0xffffffff, at + 5);
    return random.pick([gif, webp, jpeg]);
  },
  animated: async (random) => {
    const colours = Array.from({ length: 2 + random.below(20) }, () => random.pick(['red', 'lime', 'blue']));
    const frames = await Promise.all(colours.map((colour) => plain(64, 3, colour).png().toBuffer()));
    return sharp(frames, { join: { animated: true } })
      .toFormat(random.pick(['gif', 'webp']))
      .toBuffer();
  },
  packed: (random) => {
    const inside = random.pick([svg(''), Buffer.alloc(50_000_000), Buffer.from(PAYLOAD)]);
    return random.pick([
      gzipSync(inside),
      deflateSync(inside),
      Buffer.concat([Buffer.from('PK\x03\x04\x14\0\0\0\x08\0'), deflateSync(inside)]),
    ]);
  },
  other: (random) => Buffer.from(random.pick(PARTS.otherFiles)),
  noise: (random) => Buffer.from(Array.from({ length: random.below(3000) }, () => random.below(256))),
};

const RECIPES = [...Object.entries(HOSTILE_SVGS), ...Object.entries(HOSTILE_RASTERS)];

/** Returns the file of a number, always the same. Numbers that follow each other try one way of harm after another. */
export async function hostileFile(number: number): Promise<{ name: string; file: Buffer }> {
  const [name, recipe] = RECIPES[number % RECIPES.length] ?? ['', () => Buffer.alloc(0)];
  return { name: `${name} ${number}`, file: await recipe(createRandom(number)) };
}
