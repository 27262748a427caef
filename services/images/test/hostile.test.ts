import { Fault } from '@brand-data/runtime';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Form } from '../src/image/image.ts';
import type { Ingested } from '../src/ingest/ingest.ts';
import { residentMemoryOf } from '../src/workers/worker-process.ts';
import type { Workers } from '../src/workers/workers.ts';
import { hostileFile } from './hostile-files.ts';
import { ownChildren, runningWorkers } from './running-workers.ts';
import { dangersOf } from './safe-svg.ts';

/** HOSTILE_FILES=2000 tries that many files, which takes about ten minutes. */
const FILES = Number(process.env.HOSTILE_FILES ?? 60);
const MOST_MEGABYTES = 256;

describe('hostile files', () => {
  let workers: Workers & { close(): Promise<void> };
  beforeAll(async () => {
    workers = await runningWorkers(2);
  });
  afterAll(() => workers.close());

  /** The answer of a worker. A busy machine is asked again. */
  async function answerOf<T extends Ingested | Form>(ask: () => Promise<T>): Promise<T | Fault> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return error.kind === 'unavailable' || error.kind === 'resource_exhausted' ? answerOf(ask) : error;
    }
  }

  /** Returns the dangers of a form that was made of a hostile file. The list is empty if the form is safe. */
  async function dangersOfForm({ format, width, height, bytes }: Form): Promise<string[]> {
    const content = Buffer.from(bytes);
    const dangers = format === 'svg' ? dangersOf(content.toString()) : [];
    if (content.includes('PAYLOAD')) dangers.push('the payload is in the form');
    if (Math.max(width, height) > 2048) dangers.push(`${width} × ${height} pixels`);
    const stated = await sharp(content).metadata();
    if (stated.format !== format || stated.width !== width || stated.height !== height)
      dangers.push(`the form is ${stated.format} of ${stated.width} × ${stated.height} pixels`);
    const form = { format, width, height, bytes };
    const large = await answerOf(() => workers.render(form, { size: 512, format: 'png' }));
    if (large instanceof Fault) dangers.push(`it cannot be drawn in 512 pixels: ${large}`);
    return dangers;
  }

  it(`are refused with a reason or made safe, within the bounds, all ${FILES}`, {
    timeout: 3_600_000,
  }, async () => {
    const outcomes = new Map<string, number>();
    const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    const problems: string[] = [];
    let [next, megabytes, slowestMs] = [0, 0, 0];
    const watch = setInterval(() => {
      for (const pid of ownChildren())
        megabytes = Math.max(megabytes, (residentMemoryOf(pid).most * 1024 ** 2) / 1e6);
    }, 25);
    const tryFiles = async () => {
      while (next < FILES) {
        const { name, file } = await hostileFile(next++);
        const start = performance.now();
        const answer = await answerOf(() => workers.ingest(file, { kind: 'logo' }));
        slowestMs = Math.max(slowestMs, performance.now() - start);
        if (answer instanceof Fault) {
          if (answer.kind !== 'invalid_argument' || !/: \S/.test(answer.message))
            problems.push(`${name}: ${answer}`);
          count(/takes more|ended the program/.exec(answer.message)?.[0] ?? 'refused');
        } else {
          for (const form of [answer.light, answer.dark])
            if (form) problems.push(...(await dangersOfForm(form)).map((danger) => `${name}: ${danger}`));
          count('made safe');
        }
      }
    };
    await Promise.all([tryFiles(), tryFiles()]);
    clearInterval(watch);
    const shares = [...outcomes].map(([outcome, times]) => `${outcome} ${times}`).join(', ');
    process.stdout.write(
      `${FILES} hostile files: ${shares}; at most ${Math.round(megabytes)} MB a worker; slowest ${Math.round(slowestMs)} ms\n`,
    );
    expect(problems).toEqual([]);
    expect(megabytes).toBeLessThanOrEqual(MOST_MEGABYTES);
    expect((await workers.ingest((await hostileFile(0)).file, { kind: 'logo' })).light.format).toBe('svg');
  });
});
