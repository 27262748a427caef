import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { boundSharp } from '@brand-data/images/src/drawing/draw.ts';
import { renderRaster } from '@brand-data/images/src/drawing/render.ts';
import { THEMES } from '@brand-data/images/src/image/image.ts';
import { type RunningImages, startImages } from '@brand-data/images/test/running-images.ts';
import { MongoClient } from 'mongodb';
import * as simpleIcons from 'simple-icons';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { compareInTurns } from './harness/in-turns.ts';
import { linesOf, noteResult } from './harness/results.ts';
import { type Server, startSameAnswer } from './harness/servers.ts';
import { type LoadResult, runLoad } from './load.ts';

const CONNECTIONS = 256;
/** The least share of bare Fastify's calls for the same processor time. */
const GOAL = 0.8;
const LOGOS = 20;
const WORKERS = 2;

let images: RunningImages;
const database = `bench-images-${randomUUID()}`;
const lines: string[] = [];

beforeAll(async () => {
  images = await startImages(
    { mongodbUrl: inject('mongodbUrl'), database },
    { LOG_LEVEL: 'silent', IMAGE_WORKERS: String(WORKERS) },
  );
});

afterAll(async () => {
  await images?.stop();
  const client = new MongoClient(inject('mongodbUrl'));
  await client.db(database).dropDatabase();
  await client.close();
  console.log(lines.join('\n'));
});

/** Icons of real companies. */
const icons = Object.values(simpleIcons).filter((icon) => typeof icon === 'object' && 'svg' in icon);

function logo(number: number): Buffer {
  const icon = icons[(number * 97) % icons.length];
  if (!icon) throw new Error('there are no icons');
  return Buffer.from(icon.svg.replace('<svg ', '<svg width="512" height="512" '));
}

const shown = ({ callsPerSecond, p50, p99 }: LoadResult) =>
  `${Math.round(callsPerSecond).toLocaleString('en')} calls/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;

const imagesServer = (): Server => ({
  target: images.url,
  cpuMicros: async () =>
    Number(/^process_cpu_seconds_total\S* (\S+)$/m.exec(await images.metrics())?.[1]) * 1_000_000,
});

test.each([
  ['an SVG', '.svg'],
  ['a WebP of 128 pixels', '.webp?size=128'],
])(
  '%s from the cache, compared with bare Fastify that sends the same bytes',
  async (what, rest) => {
    const { big } = await images.putLogo(logo(1));
    const path = `/images/${big.path.replace('.svg', rest)}`;
    // The load accepts no encoding, so these bytes are sent as they are.
    const length = (await (await fetch(`${images.url}${path}`)).arrayBuffer()).byteLength;
    const bare = await startSameAnswer(`${images.url}${path}`, { headers: 'content-type' });
    try {
      const comparison = await compareInTurns(imagesServer(), bare, {
        paths: [path],
        connections: CONNECTIONS,
      });
      const baseline = 'bare Fastify with the same bytes and type';
      noteResult(`images, ${what}, processor time`, comparison.ratioOfProcessorTime, {
        goal: GOAL,
        baseline,
      });
      lines.push(...linesOf(`${what}, ${length} bytes`, baseline, comparison));
    } finally {
      bare.stop();
    }
  },
  180_000,
);

test.each(['png', 'webp', 'avif'] as const)(
  'pictures in %s that no cache has, each asked for once',
  async (format) => {
    const logos: string[] = [];
    for (let number = 1; number <= LOGOS; number++) {
      const { big } = await images.putLogo(logo(number));
      logos.push(`/images/${big.path.replace('.svg', '')}`);
    }
    for (const size of [64, 256, 512] as const) {
      const paths = logos.flatMap((path) =>
        THEMES.map((theme) => `${path}.${format}?size=${size}&theme=${theme}`),
      );
      const result = await runLoad(images.url, {
        paths,
        // As many as the service has workers.
        connections: WORKERS,
        forMs: 60_000,
        calls: paths.length,
      });
      expect([...result.byStatus.keys()]).toEqual([200]);
      lines.push(
        `${format}, ${size} pixels, ${WORKERS} workers, ${availableParallelism()} processors: ${shown(result)}; ` +
          `${(await renderMillis(format, size)).toFixed(1)} ms of CPU a picture in a worker`,
      );
    }
  },
  180_000,
);

/** Returns the processor time of drawing a logo, without the way to the worker and back. */
async function renderMillis(format: 'png' | 'webp' | 'avif', longer: number): Promise<number> {
  boundSharp();
  const forms = Array.from({ length: LOGOS }, (_, number) => ({
    ...({ format: 'svg', width: 512, height: 512 } as const),
    bytes: logo(number),
  }));
  for (const form of forms.slice(0, 3)) await renderRaster(form, { longer, format });
  const before = process.cpuUsage();
  for (const form of forms) await renderRaster(form, { longer, format });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / forms.length;
}
