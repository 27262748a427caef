import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { THEMES } from '@brand-data/images/src/image/image.ts';
import { type RunningImages, startImages } from '@brand-data/images/test/running-images.ts';
import { MongoClient } from 'mongodb';
import * as simpleIcons from 'simple-icons';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { compareInTurns } from './harness/in-turns.ts';
import { linesOf, noteResult, whole } from './harness/results.ts';
import { startSameAnswer } from './harness/servers.ts';
import { runLoad } from './load.ts';

const CONNECTIONS = 256;
const BASELINE = 'bare Fastify with the same bytes and type';
/** The least share of bare Fastify's calls for the same processor time. */
const GOAL = { goal: 0.8, baseline: BASELINE };
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

/** Stores a logo. Returns its path without the format. */
async function putLogo(number: number): Promise<string> {
  const svg = icons[(number * 97) % icons.length]?.svg ?? '';
  const { big } = await images.putLogo(Buffer.from(svg.replace('<svg ', '<svg width="512" height="512" ')));
  return `/images/${big.path.replace('.svg', '')}`;
}

test.each([
  ['an SVG', '.svg'],
  ['a WebP of 128 pixels', '.webp?size=128'],
])(
  '%s from the cache, compared with bare Fastify that sends the same bytes',
  async (what, rest) => {
    const path = `${await putLogo(1)}${rest}`;
    // The load accepts no encoding, so these bytes are sent as they are.
    const { byteLength } = await (await fetch(`${images.url}${path}`)).arrayBuffer();
    using bare = await startSameAnswer(`${images.url}${path}`, 'content-type');
    const server = {
      target: images.url,
      cpuMicros: async () => (await images.metric('process_cpu_seconds_total')) * 1_000_000,
    };
    const comparison = await compareInTurns(server, bare, { paths: [path], connections: CONNECTIONS });
    noteResult(`images, ${what}, processor time`, comparison.ratioOfProcessorTime, GOAL);
    lines.push(...linesOf(`${what}, ${byteLength} bytes`, BASELINE, comparison));
  },
  180_000,
);

test.each(['png', 'webp', 'avif'])(
  'pictures in %s that no cache has, each asked for once',
  async (format) => {
    const logos: string[] = [];
    for (let number = 1; number <= LOGOS; number++) logos.push(await putLogo(number));
    for (const size of [64, 256, 512]) {
      const paths = logos.flatMap((path) =>
        THEMES.map((theme) => `${path}.${format}?size=${size}&theme=${theme}`),
      );
      const calls = paths.length;
      // As many connections as the service has workers.
      const { byStatus, callsPerSecond, p50, p99 } = await runLoad(images.url, {
        paths,
        connections: WORKERS,
        forMs: 60_000,
        calls,
      });
      expect([...byStatus.keys()]).toEqual([200]);
      lines.push(
        `${format}, ${size} pixels, ${WORKERS} workers, ${availableParallelism()} processors: ` +
          `${whole(callsPerSecond)} calls/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
      );
    }
  },
  180_000,
);
