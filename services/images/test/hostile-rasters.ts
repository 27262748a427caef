import { deflateSync, gzipSync } from 'node:zlib';
import sharp from 'sharp';
import type { Dice, Recipe } from './dice.ts';
import { SVG, svg } from './hostile-svgs.ts';

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

function pngHeader(
  width: number,
  height: number,
  depth: number,
  colours: number,
  interlaced: number,
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colours, 0, 0, interlaced], 8);
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), pngChunk('IHDR', header)]);
}

const PAYLOAD = '<script>alert("PAYLOAD")</script>';

/** How other files harm what decodes them, or pass for what they are not. */
export const HOSTILE_RASTERS: Record<string, Recipe> = {
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
    const tails = [
      PAYLOAD,
      `PK\x03\x04${PAYLOAD}`,
      `%PDF-1.4${PAYLOAD}`,
      '\0'.repeat(100_000),
      `GIF89a${PAYLOAD}`,
    ];
    return Buffer.concat([await encoded(dice), Buffer.from(dice.pick(tails))]);
  },
  head: async (dice) =>
    Buffer.concat([
      Buffer.from(
        dice.pick([
          PAYLOAD,
          'GIF89a/*',
          '\xff\xd8\xff',
          'RIFF....WEBPVP8 ',
          'BM',
          '<svg ',
          '\x89PNG\r\n\x1a\n',
          '%PDF-',
        ]),
      ),
      await encoded(dice),
    ]),
  metadata: async (dice) => {
    const image = raster(dice).withExif({
      IFD0: { Copyright: PAYLOAD, ImageDescription: 'PAYLOAD'.repeat(500) },
    });
    return dice
      .pick([() => image.png(), () => image.flatten().jpeg(), () => image.webp()])()
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
      pngHeader(side, side, dice.pick([1, 8, 16]), dice.pick([0, 2, 3, 6]), dice.roll(2)),
      ...body.slice(dice.roll(3)),
      pngChunk('IEND', Buffer.alloc(0)),
    ]);
  },
  'real bomb': async (dice) => {
    const side = dice.pick([3900, 4000, 4100]);
    const image = sharp({ create: { width: side, height: side, channels: 4, background: '#80808080' } });
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
    const jpeg = await sharp({ create: { width: 9, height: 9, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
    const at = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
    jpeg.writeUInt32BE(0xffffffff, at + 5);
    return dice.pick([gif, webp, jpeg]);
  },
  animated: async (dice) => {
    const frames = await Promise.all(
      Array.from({ length: 2 + dice.roll(20) }, () =>
        sharp({
          create: { width: 64, height: 64, channels: 3, background: dice.pick(['red', 'lime', 'blue']) },
        })
          .png()
          .toBuffer(),
      ),
    );
    const image = sharp(frames, { join: { animated: true } });
    return dice
      .pick([() => image.gif(), () => image.webp()])()
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
  other: (dice) =>
    Buffer.from(
      dice.pick([
        '%PDF-1.4\n1 0 obj',
        '%!PS-Adobe',
        'BM6\0\0\0',
        'II*\0\x08\0',
        '\0\0\x01\0\x01\0',
        '#!/bin/sh',
        '<?php system(1);',
        '<html><script>1</script>',
        '{"a":1}',
        '',
        '\0'.repeat(99),
        'push graphic-context\nimage over 0,0 0,0 "|id"',
        '/* XPM */',
        'P6 99999 99999 255\n',
        '#EXTM3U',
        '<?xml version="1.0"?><!-- x -->',
        '<svg>',
        'GIF8',
        'RIFF',
        'VipsImage',
      ]),
    ),
  noise: (dice) => Buffer.from(Array.from({ length: dice.roll(3000) }, () => dice.roll(256))),
};
