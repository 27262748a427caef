import { Fault } from '@brand-data/runtime';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Form } from '../src/image.ts';
import type { Ingested } from '../src/ingest/ingest.ts';
import { memoryOf } from '../src/rendering/process-usage.ts';
import type { Workers } from '../src/rendering/workers.ts';
import { hostileFile } from './hostile-files.ts';
import { ownChildren } from './own-children.ts';
import { runningWorkers } from './running-workers.ts';
import { dangersOf } from './safe-svg.ts';

/** HOSTILE_FILES=2000 tries that many files, which takes about ten minutes. */
const FILES = Number(process.env.HOSTILE_FILES ?? 58);
const MOST_MEGABYTES = 256;

describe('hostile files', () => {
  let workers: Workers & { close(): Promise<void> };
  beforeAll(async () => {
    workers = await runningWorkers(2);
  });
  afterAll(() => workers.close());

  /** The answer to a file. A busy machine is asked again. */
  async function answerTo(file: Buffer): Promise<Ingested | Fault> {
    try {
      return await workers.ingest(file, { kind: 'logo' });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return error.kind === 'unavailable' || error.kind === 'resource_exhausted' ? answerTo(file) : error;
    }
  }

  async function expectSafe(form: Form): Promise<void> {
    const content = Buffer.from(form.bytes);
    expect(content.includes('PAYLOAD')).toBe(false);
    expect(Math.max(form.width, form.height)).toBeLessThanOrEqual(2048);
    if (form.format === 'svg') expect(dangersOf(content.toString())).toEqual([]);
    else
      expect(await sharp(content).metadata()).toMatchObject({
        format: form.format,
        width: form.width,
        height: form.height,
      });
  }

  it(`are refused with a reason or made safe, within the bounds, all ${FILES}`, {
    timeout: 3_600_000,
  }, async () => {
    const outcomes = new Map<string, number>();
    const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    let [megabytes, slowestMs] = [0, 0];
    const watch = setInterval(() => {
      for (const pid of ownChildren())
        megabytes = Math.max(megabytes, ((memoryOf(pid)?.most ?? 0) * 1024 ** 2) / 1e6);
    }, 25);
    for (let number = 0; number < FILES; number += 1) {
      const { name, file } = await hostileFile(number);
      const start = performance.now();
      const answer = await answerTo(file);
      slowestMs = Math.max(slowestMs, performance.now() - start);
      if (answer instanceof Fault) {
        expect({ name, kind: answer.kind }).toEqual({ name, kind: 'invalid_argument' });
        expect(answer.message).toMatch(/: \S/);
        count(/takes more|ended the program/.exec(answer.message)?.[0] ?? 'refused');
      } else {
        await expectSafe(answer.light).catch((error) => Promise.reject(new Error(name, { cause: error })));
        if (answer.dark) await expectSafe(answer.dark);
        count('made safe');
      }
    }
    clearInterval(watch);
    const shares = [...outcomes].map(([outcome, times]) => `${outcome} ${times}`).join(', ');
    process.stdout.write(
      `${FILES} hostile files: ${shares}; at most ${Math.round(megabytes)} MB a worker; slowest ${Math.round(slowestMs)} ms\n`,
    );
    expect(megabytes).toBeLessThanOrEqual(MOST_MEGABYTES);
    expect((await workers.ingest((await hostileFile(0)).file, { kind: 'logo' })).light.format).toBe('svg');
  });
});
