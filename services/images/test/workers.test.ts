import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Fault } from '@brand-data/runtime';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Form, type Format, SIZES, type Size } from '../src/image/image.ts';
import type { Workers } from '../src/workers/workers.ts';
import { ownChildren, runningWorkers } from './running-workers.ts';

const SVG = 'xmlns="http://www.w3.org/2000/svg"';
const logo = Buffer.from(
  `<svg ${SVG} viewBox="0 0 100 50"><rect width="100" height="50" fill="#d02020"/></svg>`,
);
const tall = (form: Format, bytes: Uint8Array, width: number, height: number): Form => ({
  format: form,
  bytes,
  width,
  height,
});

/**
 * Returns a small file that takes 256 MB in memory: 16 bits for each colour of 16 million pixels, in rows that come in no order.
 */
const largeInMemory = () =>
  sharp({ create: { width: 4000, height: 4000, channels: 4, background: '#88888844' } })
    .toColourspace('rgb16')
    .png({ progressive: true })
    .toBuffer();

/** Returns a small file that takes long: thousands of rules, each to be tried on thousands of deep elements. */
function longInTime(): Buffer {
  const rules = Array.from({ length: 2500 }, (_, index) => `g g g g .a${index} rect{fill:red}`).join('');
  const rects = '<rect width="5" height="5"/>'.repeat(9500);
  return Buffer.from(
    `<svg ${SVG} viewBox="0 0 9 9"><style>${rules}</style>${'<g class="a1">'.repeat(60)}${rects}${'</g>'.repeat(60)}</svg>`,
  );
}

const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error) => (error instanceof Fault ? error.kind : error),
  );

describe('worker processes', () => {
  let workers: Workers & { close(): Promise<void> };
  beforeAll(async () => {
    process.env.OPERATOR_TOKEN = 'a-secret-of-the-service';
    workers = await runningWorkers(2);
  });
  afterAll(() => workers.close());

  /** Ingests the logo. If a busy machine starts new workers too slowly, asks again, as the refusal tells callers to do. */
  const ingestLogo = async (): ReturnType<Workers['ingest']> => {
    try {
      return await workers.ingest(logo, { kind: 'logo' });
    } catch (error) {
      if (error instanceof Fault && error.kind === 'resource_exhausted') return ingestLogo();
      throw error;
    }
  };

  const expectWorking = async () =>
    expect((await ingestLogo()).light).toMatchObject({ width: 512, height: 256 });

  it('ingest a file', expectWorking);

  it('get no secret of the service', () => {
    const children = ownChildren();
    expect(children.length).toBeGreaterThanOrEqual(2);
    for (const pid of children)
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('a-secret');
  });

  it('let code that runs in one read nothing but code, and start no process, thread, database or debugger', () => {
    const [pid] = ownChildren();
    const [program = '', ...given] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
    const secret = join(mkdtempSync(join(tmpdir(), 'secret-')), 'OPERATOR_TOKEN');
    writeFileSync(secret, 'a-secret-of-the-service');
    const intruder = join(import.meta.dirname, 'intruder.ts');
    const { stdout, stderr } = spawnSync(
      program,
      given.map((each) => (each.endsWith('worker.ts') ? intruder : each)).concat(String(process.pid), secret),
      {
        cwd: readlinkSync(`/proc/${pid}/cwd`),
        env: Object.fromEntries(environment.map((entry) => entry.split(/=(.*)/s).slice(0, 2))),
        encoding: 'utf8',
        timeout: 60_000,
      },
    );
    rmSync(dirname(secret), { recursive: true });
    expect(stderr).toBe('');
    const outcomes: Record<string, string> = JSON.parse(stdout);
    expect(Object.keys(outcomes).length).toBeGreaterThan(10);
    expect(Object.entries(outcomes).filter(([, outcome]) => outcome !== 'ERR_ACCESS_DENIED')).toEqual([
      ['read the code', 'done'],
      ['open a database', 'ERR_UNKNOWN_BUILTIN_MODULE'],
    ]);
  });

  it('refuse a file with the reason', async () => {
    await expect(workers.ingest(Buffer.from('%PDF-1.4'), { kind: 'logo' })).rejects.toThrow(
      expect.objectContaining({ kind: 'invalid_argument', message: expect.stringMatching(/PDF.*SVG/) }),
    );
  });

  it.each([
    ['its CSS', `<path d="M0 0h9v9z" transform="${'('.repeat(2000)}"/>`],
    [
      'its references',
      Array.from({ length: 4900 }, (_, index) => `<g id="u${index}"><use href="#u${index + 1}"/></g>`).join(
        '',
      ),
    ],
  ])('refuse a file that overflows the stack by %s', async (_, inside) => {
    const file = Buffer.from(`<svg ${SVG} viewBox="0 0 9 9"><path d="M0 0h9v9z"/>${inside}</svg>`);
    await expect(workers.ingest(file, { kind: 'logo' })).rejects.toThrow(
      expect.objectContaining({
        kind: 'invalid_argument',
        message: expect.stringMatching(/nested too deeply: simplify it/),
      }),
    );
  });

  it('end with a file that takes too much memory, and others take their place', async () => {
    await expect(workers.ingest(await largeInMemory(), { kind: 'logo' })).rejects.toThrow(
      expect.objectContaining({ kind: 'invalid_argument', message: expect.stringMatching(/256 MB.*scale/) }),
    );
    await expectWorking();
    await expect.poll(() => ownChildren().length).toBeGreaterThanOrEqual(2);
  });

  it('end with a file that takes too long, and others take their place', async () => {
    const file = longInTime();
    const kinds = await Promise.all([1, 2].map(() => kindOf(workers.ingest(file, { kind: 'logo' }))));
    // On a busy machine the file is not to blame.
    for (const kind of kinds) expect(['invalid_argument', 'unavailable']).toContain(kind);
    await expectWorking();
  });

  it('refuse a file that is quickly drawn in few pixels and takes too long in the largest size', async () => {
    const filter =
      '<filter id="f" x="0" y="0" width="1" height="1"><feGaussianBlur stdDeviation="0.3"/></filter>';
    const rect = '<rect width="100" height="100" fill="#c33" filter="url(#f)"/>';
    const file = Buffer.from(`<svg ${SVG} viewBox="0 0 100 100">${filter}${rect.repeat(200)}</svg>`);
    expect(['invalid_argument', 'unavailable']).toContain(
      await kindOf(workers.ingest(file, { kind: 'logo' })),
    );
    await expectWorking();
  });

  it('that end by themselves cost no job', async () => {
    const pids = ownChildren();
    const jobs = Array.from({ length: 6 }, () => kindOf(ingestLogo()));
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    expect(await Promise.all(jobs)).toEqual(Array(6).fill('done'));
    await expectWorking();
  });

  it('refuse at once what is more than they can hold', async () => {
    const kinds = await Promise.all(
      Array.from({ length: 80 }, () => kindOf(workers.ingest(logo, { kind: 'logo' }))),
    );
    expect(kinds).toContain('resource_exhausted');
    expect(kinds).toContain('done');
    expect(new Set(kinds).size).toBe(2);
    await expectWorking();
  });

  it('end when the service stops, and nothing hangs', async () => {
    // Another test may have ended a worker of the file's own pool, which is then being replaced.
    await expect.poll(() => ownChildren().length).toBe(2);
    const stopping = await runningWorkers(1);
    const jobs = Array.from({ length: 5 }, () => kindOf(stopping.ingest(logo, { kind: 'logo' })));
    await stopping.close();
    expect(await Promise.all(jobs)).toEqual(['done', ...Array(4).fill('unavailable')]);
    expect(await kindOf(stopping.ingest(logo, { kind: 'logo' }))).toBe('unavailable');
    expect(ownChildren()).toHaveLength(2);
  });

  describe('render', () => {
    it.each<[Size, number, number]>(SIZES.map((size) => [size, size, size / 2]))(
      'an SVG in size %i',
      async (size, width, height) => {
        const { light } = await workers.ingest(logo, { kind: 'logo' });
        for (const format of ['png', 'webp', 'avif'] as const) {
          const form = await workers.render(light, { size, format });
          expect(form).toMatchObject({ format, width, height });
          const metadata = await sharp(form.bytes).metadata();
          expect(metadata).toMatchObject({ width, height, format: format === 'avif' ? 'heif' : format });
        }
        const svg = await workers.render(light, { size, format: 'svg' });
        expect(svg).toMatchObject({ format: 'svg', width, height });
        expect(Buffer.from(svg.bytes).toString()).toContain(
          `width="${width}" height="${height}" viewBox="0 0 100 50"`,
        );
        expect(await sharp(svg.bytes).metadata()).toMatchObject({ width, height });
      },
    );

    it('a raster never larger than it is', async () => {
      const file = await sharp(logo).resize(100).png().toBuffer();
      const stored = tall('png', file, 100, 50);
      expect(await workers.render(stored, { size: 512, format: 'webp' })).toMatchObject({
        width: 100,
        height: 50,
      });
      expect(await workers.render(stored, { size: 64, format: 'png' })).toMatchObject({
        width: 64,
        height: 32,
      });
      expect(await workers.render(stored, { format: 'avif' })).toMatchObject({ width: 100, height: 50 });
    });

    const drawn = async (letters: string) => {
      const text = `<text x="8" y="50" font-family="system-ui, sans-serif" font-size="40" font-weight="600" fill="#fff">${letters}</text>`;
      const svg = Buffer.from(`<svg ${SVG} width="64" height="64" viewBox="0 0 64 64">${text}</svg>`);
      const { bytes } = await workers.render(tall('svg', svg, 64, 64), { size: 64, format: 'png' });
      const { channels } = await sharp(bytes).stats();
      return channels[3]?.mean ?? 0;
    };

    it.each(['G', 'é', 'Ω', 'Ж', 'Ա', 'ქ', 'ש', 'ر'])(
      'the letter %s without a font of the system',
      async (letter) => {
        expect(await drawn(letter)).toBeGreaterThan(5);
      },
    );

    it.each(['三', '현', 'ท', '\u{10FFFD}'])('no empty box for %s, which no font covers', async (letter) => {
      expect(await drawn(letter)).toBe(0);
    });
  });
});
