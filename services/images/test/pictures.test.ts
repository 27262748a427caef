import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Fault } from '@brand-data/runtime';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Form, type Format, readImageUrl, SIZES, type Theme, type Wanted } from '../src/image/image.ts';
import { Pictures } from '../src/pictures/pictures.ts';
import { standInWorkers } from './stand-in-workers.ts';

const BYTES = 10_000;
const KEY = 'the key of the examples';

function formOf(format: Format): Form {
  return { format, width: 100, height: 50, bytes: Buffer.alloc(BYTES, format) };
}

/**
 * Returns a store in which every image exists, except those whose hash begins with "0". Those of "f" are SVG, those of "d" are
 * SVG with a PNG for dark pages, and all others are PNG.
 */
function testPictures({
  cacheBytes = 1_000_000,
  render = standInWorkers.render,
  hasSmall = false,
  workerCount = 8,
} = {}) {
  const imageOf = (id: string): { light: Form; dark?: Form } | undefined => {
    if (id.startsWith('logos/0')) return undefined;
    if (id.startsWith('logos/d')) return { light: formOf('svg'), dark: formOf('png') };
    return { light: formOf(id.startsWith('logos/f') ? 'svg' : 'png') };
  };
  const store = {
    findForm: vi.fn(async (id: string, theme: Theme) => {
      const stated = imageOf(id);
      const form = stated?.[theme] ?? stated?.light;
      return (
        stated && form && { form, ...(hasSmall && form === stated.light ? { small: form } : {}), stated }
      );
    }),
    findStated: vi.fn(async (id: string) => imageOf(id)),
  };
  const workers = { render: vi.fn(render) };
  const pictures = new Pictures(store, workers, { cacheBytes, monogramKeys: [KEY], workerCount });
  const find = (wanted: Wanted, caller: Partial<Parameters<typeof pictures.find>[1]>) =>
    pictures.find(wanted, { client: '192.0.2.1', ...caller });
  return { store, workers, find, stats: pictures.stats.bind(pictures) };
}

function wanted(hash: string, rest: string): Wanted {
  const read = readImageUrl(`/images/logos/${hash.padEnd(32, 'e')}${rest}`);
  if (typeof read === 'string') throw new Error(read);
  return read;
}

test('requests for one picture at the same time make it once, and later ones find it', async () => {
  const { store, workers, find, stats } = testPictures();
  const found = await Promise.all(Array.from({ length: 50 }, () => find(wanted('1', '.webp?size=32'), {})));
  expect(new Set(found).size).toBe(1);
  expect(find(wanted('1', '.png?format=webp&size=32'), {})).toBe(found[0]);
  expect(store.findForm).toHaveBeenCalledTimes(1);
  expect(workers.render).toHaveBeenCalledTimes(1);
  expect(stats()).toMatchObject({ hits: 1, joined: 49, misses: 1, entries: 1 });
});

test('the cache never holds more than its bytes, and a picture larger than the cache is answered all the same', async () => {
  const { find, stats } = testPictures({ cacheBytes: 50_000 });
  for (let hash = 1; hash < 100; hash++) {
    expect(await find(wanted(`a${hash}`, '.png'), {})).toMatchObject({ format: 'png' });
    expect(stats().bytes).toBeLessThanOrEqual(50_000);
  }
  expect(stats().entries).toBe(4);
  const small = testPictures({ cacheBytes: 5_000 });
  expect(await small.find(wanted('a', '.png'), {})).toMatchObject({ format: 'png' });
  expect(small.stats().entries).toBe(0);
});

test('a raster is drawn only if another size or format is asked for, and never as SVG', async () => {
  const { find, workers } = testPictures();
  for (const rest of ['.png', '.png?size=512', '.png?size=128', '', '?size=256', '?theme=dark'])
    expect(await find(wanted('1', rest), {})).toMatchObject({
      format: 'png',
      body: formOf('png').bytes,
    });
  expect(workers.render).not.toHaveBeenCalled();
  expect(await find(wanted('1', '.svg'), {})).toBe('no_svg');
  expect(await find(wanted('2', '.svg'), {})).toBe('no_svg');
  expect(await find(wanted('2', '?format=svg&size=64'), {})).toBe('no_svg');
  await find(wanted('1', '.png?size=64'), {});
  await find(wanted('f', '.svg?size=512'), {});
  expect(workers.render).toHaveBeenCalledTimes(2);
});

test('an SVG whose form for dark pages is a raster can be had as SVG for light pages, whatever was asked for before', async () => {
  const { find } = testPictures();
  expect(await find(wanted('d', '.png?theme=dark'), {})).toMatchObject({ format: 'png' });
  expect(await find(wanted('d', '?theme=dark'), {})).toMatchObject({ format: 'png' });
  expect(await find(wanted('d', '.svg?theme=dark'), {})).toBe('no_svg');
  expect(await find(wanted('d', ''), {})).toMatchObject({ format: 'svg' });
  expect(await find(wanted('d', '.svg'), {})).toMatchObject({ format: 'svg' });
});

test('an image that does not exist is looked for once in some seconds, by any URL', async () => {
  const { find, store } = testPictures();
  for (const rest of ['.png', '.svg', '.webp?size=32', '?theme=dark', ''])
    expect(await find(wanted('0', rest), {})).toBe('no_image');
  expect(store.findForm).toHaveBeenCalledTimes(1);
});

test('without a format in the URL, Accept decides, and the stored format is read once', async () => {
  const { find, store } = testPictures();
  const formats = ['image/webp', 'image/avif', 'image/png', 'image/svg+xml'].map(async (accept) => {
    const found = await find(wanted('f', ''), { accept });
    return typeof found === 'string' ? found : found.format;
  });
  expect(await Promise.all(formats)).toEqual(['webp', 'avif', 'png', 'svg']);
  expect(store.findStated).toHaveBeenCalledTimes(1);
});

test('a picture that ends a worker is not tried again at once, and one that the queue had no room for is', async () => {
  const killed = testPictures({
    render: async () => {
      throw new Fault('failed_precondition', 'killed');
    },
  });
  const full = testPictures({
    render: async () => {
      throw new Fault('resource_exhausted', 'full');
    },
  });
  for (const [{ find, workers }, times] of [
    [killed, 1],
    [full, 3],
  ] as const) {
    for (let attempt = 0; attempt < 3; attempt++)
      await expect((async () => find(wanted('1', '.webp'), {}))()).rejects.toBeInstanceOf(Fault);
    expect(workers.render).toHaveBeenCalledTimes(times);
  }
});

test('at most 248 pictures wait to be drawn by as many at once as there are workers; further ones are refused, others that need no drawing are not, and all are freed', async () => {
  let running = 0;
  let mostRunning = 0;
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { find, workers } = testPictures({
    hasSmall: true,
    render: async (...given) => {
      // As in the workers, an SVG in another size is not drawn.
      if (given[1].format === 'svg') return standInWorkers.render(...given);
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      await gate;
      running -= 1;
      return standInWorkers.render(...given);
    },
  });
  const ask = async (number: number) => find(wanted(`a${number}b`, '.webp?size=32'), {});
  const first = Array.from({ length: 256 }, (_, number) => ask(number));
  await expect(ask(1_000)).rejects.toMatchObject({ kind: 'resource_exhausted' });
  const joined = ask(0);
  // None of these is drawn, so none waits.
  for (const [hash, rest] of [
    ...SIZES.map((size) => ['f', `.svg?size=${size}`] as const),
    ...([
      ['f', '.svg'],
      ['f', '.svg?theme=dark'],
      ['f', ''],
      ['1', '.png'],
      ['1', ''],
    ] as const),
    // These rasters have 100 pixels, and what is stored of the last two is not known yet.
    ...([
      ['1', '.png?size=128'],
      ['1', '?size=512'],
      ['1', '.png?theme=dark&size=64'],
      ['2', '.png?size=128'],
      ['3', '?size=256'],
    ] as const),
    ...([
      ['1', '.png?size=64'],
      ['1', '.svg'],
      ['0', '.png'],
    ] as const),
  ])
    expect(await find(wanted(hash, rest), {})).toBeDefined();
  expect(running).toBe(8);
  expect(workers.render).toHaveBeenCalledTimes(8 + SIZES.length - 1);
  release();
  expect(await joined).toMatchObject({ format: 'webp' });
  expect((await Promise.all(first)).every((found) => typeof found === 'object')).toBe(true);
  expect(mostRunning).toBe(8);
  expect(await ask(1_000)).toMatchObject({ format: 'webp' });
});

test('a picture that must be drawn waits for its turn without its form, though the first look cannot tell', async () => {
  const { find, store, workers } = testPictures();
  expect(await find(wanted('f', '.png'), {})).toMatchObject({ format: 'png' });
  expect(store.findForm).toHaveBeenCalledTimes(2);
  expect(await find(wanted('f', '.webp'), {})).toMatchObject({ format: 'webp' });
  expect(store.findForm).toHaveBeenCalledTimes(3);
  expect(workers.render).toHaveBeenCalledTimes(2);
});

test('an SVG is compressed once in each encoding, which the bound of the cache counts, and a raster never', async () => {
  const { find, stats } = testPictures({ cacheBytes: 30_000 });
  const svg = wanted('f', '.svg');
  const plain = await find(svg, {});
  if (typeof plain === 'string') throw new Error(plain);
  expect(plain).toMatchObject({ encoding: 'identity', body: formOf('svg').bytes });
  for (const [acceptEncoding, encoding, decompress] of [
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
  ] as const) {
    const before = stats();
    const found = await Promise.all(Array.from({ length: 20 }, () => find(svg, { acceptEncoding })));
    expect(new Set(found).size).toBe(1);
    // Once it is compressed, it is answered at once.
    expect(find(svg, { acceptEncoding })).toBe(found[0]);
    const [compressed] = found;
    if (compressed === undefined || typeof compressed === 'string') throw new Error(compressed);
    expect(compressed).toMatchObject({ format: 'svg', encoding, tag: plain.tag });
    expect(decompress(compressed.body)).toEqual(plain.body);
    expect(stats()).toMatchObject({ misses: before.misses, entries: 1 });
    expect(stats().bytes - before.bytes).toBeGreaterThanOrEqual(compressed.body.length);
  }
  expect(find(svg, {})).toMatchObject({ encoding: 'identity' });
  expect(find(svg, { acceptEncoding: 'br' })).toMatchObject({ encoding: 'br' });
  expect(await find(wanted('1', '.png'), { acceptEncoding: 'br' })).toMatchObject({ encoding: 'identity' });
  for (let hash = 1; hash < 20; hash++) {
    await find(wanted(`f${hash}`, '.svg'), { acceptEncoding: 'br' });
    expect(stats().bytes).toBeLessThanOrEqual(30_000);
  }
});

test('if too many drawings wait to be compressed, further ones are sent as they are', async () => {
  const { find } = testPictures();
  const each = Array.from({ length: 100 }, (_, number) => wanted(`fa${number}b`, '.svg'));
  for (const svg of each) await find(svg, {});
  const found = await Promise.all(each.map((svg) => find(svg, { acceptEncoding: 'br' })));
  const encodings = found.map((each) => (typeof each === 'string' ? each : each.encoding));
  expect(encodings.filter((encoding) => encoding === 'br')).toHaveLength(64);
  expect(encodings.filter((encoding) => encoding === 'identity')).toHaveLength(36);
  for (const svg of each) expect(await find(svg, { acceptEncoding: 'br' })).toMatchObject({ encoding: 'br' });
});

test('two pictures have the same tag only if they have the same bytes', async () => {
  const { find } = testPictures();
  const tags = new Map<string, string>();
  for (const rest of ['.png', '.webp', '.avif', '.png?size=32', '.png?size=64', '.webp?size=64']) {
    const found = await find(wanted('1', rest), {});
    if (typeof found === 'string') throw new Error(found);
    expect(found.tag).toMatch(/^[\w-]{27}$/);
    tags.set(found.tag, found.body.toString());
  }
  expect(tags.size).toBe(6);
  expect(new Set(tags.values()).size).toBe(6);
});

test('a picture that waits too long for its turn is refused, and the turn goes to another', async () => {
  vi.useFakeTimers();
  try {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { find } = testPictures({ render: (...given) => gate.then(() => standInWorkers.render(...given)) });
    const ask = async (number: number) => find(wanted(`a${number}b`, '.webp?size=32'), {});
    const first = Array.from({ length: 8 }, (_, number) => ask(number));
    const late = expect(ask(8)).rejects.toMatchObject({ kind: 'resource_exhausted' });
    await vi.advanceTimersByTimeAsync(2_000);
    const inTime = ask(9);
    await vi.advanceTimersByTimeAsync(2_000);
    await late;
    release();
    expect(await inTime).toMatchObject({ format: 'webp' });
    await Promise.all(first);
  } finally {
    vi.useRealTimers();
  }
});

/** Resolves when everything has gone on that waits for no drawing. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Returns pictures of which each is drawn only when the test ends its drawing. */
function heldPictures(workerCount = 8) {
  const drawings: (() => void)[] = [];
  const { find } = testPictures({
    workerCount,
    render: (...given) =>
      new Promise((resolve) => {
        drawings.push(() => resolve(standInWorkers.render(...given)));
      }),
  });
  return {
    drawings,
    ask: async (client: string, hash: number) => find(wanted(`a${hash}b`, '.webp?size=32'), { client }),
    /** Ends so many drawings, each time the one that has taken longest. */
    end: async (count: number) => {
      for (let ended = 0; ended < count && drawings.length > 0; ended++) {
        drawings.shift()?.();
        await settled();
      }
    },
  };
}

describe('of pictures that wait to be drawn', () => {
  // However long the test takes, no picture waits too long.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test('one of another client is the next, although all places are taken, and also if the flood asked for it first', async () => {
    const { ask, end, drawings } = heldPictures();
    const flood = Promise.allSettled(Array.from({ length: 300 }, (_, hash) => ask('flood', hash)));
    await settled();
    expect(drawings).toHaveLength(8);
    const others = [ask('second', 1_000), ask('third', 200)];
    await settled();
    // Two drawings make room, and the other clients' two come behind the six of the flood.
    await end(10);
    for (const other of others) expect(await other).toMatchObject({ format: 'webp' });
    await end(300);
    // The newest of the flood lost its place to the other client.
    const drawn = (await flood).filter(({ status }) => status === 'fulfilled');
    expect(drawn).toHaveLength(255);
  });

  test.each([1, 2])(
    'with %i workers, one of another client begins when a worker is free, behind no drawing that waits for a worker',
    async (workerCount) => {
      const { ask, end, drawings } = heldPictures(workerCount);
      const flood = Promise.all(Array.from({ length: 100 }, (_, hash) => ask('flood', hash)));
      const other = ask('other', 1_000);
      await settled();
      expect(drawings).toHaveLength(workerCount);
      // Those that the workers draw, and its own.
      await end(workerCount + 1);
      expect(await other).toMatchObject({ format: 'webp' });
      await end(100);
      await flood;
    },
  );

  test('clients that ask for many have equal parts, whoever came first', async () => {
    const { ask, end } = heldPictures();
    const asked = [0, 1_000, 2_000].map((from) =>
      Promise.allSettled(Array.from({ length: 300 }, (_, hash) => ask(String(from), from + hash))),
    );
    await settled();
    await end(1_000);
    const drawn = (await Promise.all(asked)).map(
      (all) => all.filter(({ status }) => status === 'fulfilled').length,
    );
    expect(drawn.reduce((sum, count) => sum + count)).toBe(256);
    // The first had eight turns before the others came.
    expect(Math.max(...drawn) - Math.min(...drawn)).toBeLessThanOrEqual(9);
  });
});
