import { Fault, type Service } from '@brand-data/runtime';
import { resizeSvg } from '../drawing/resize-svg.ts';
import type { Form, Format, PictureKind, Size } from '../image/image.ts';
import type { Ingested } from '../ingest/ingest.ts';
import { scaled } from '../svg/svg-size.ts';
import { WorkerPool } from './worker-pool.ts';
import type { Ending, JobOutcome } from './worker-process.ts';

/** Decodes and draws pictures outside this process, each within a bound of time and memory. */
export interface Workers {
  /**
   * Sanitizes or re-encodes a file, measures it, and makes its light and dark form. Rejects with Fault `invalid_argument`, whose
   * message says why and what to do, if the file is refused. Rejects with Fault `resource_exhausted` if too much work waits, and
   * with Fault `unavailable` if the machine is too busy for the work.
   *
   * @param file of any content, at most 4 MiB
   * @param options.dark the file for dark pages; without it the dark form is made from the light one
   * @param options.isStored whether `file` is the light form of a stored image, which stays as it is
   */
  ingest(
    file: Uint8Array,
    options: { kind: PictureKind; dark?: Uint8Array; isStored?: boolean },
  ): Promise<Ingested>;
  /**
   * Draws a stored form in a size and a format. The size bounds the longer side. A raster never grows, an SVG does, and an SVG
   * stays an SVG if `format` is svg. Rejects with Fault `failed_precondition` if the picture takes too much time or memory, with
   * Fault `resource_exhausted` if too much work waits, and with Fault `unavailable` if the machine is too busy for the work.
   *
   * @param options.size without it, the form's own size
   * @param options.format svg only for an SVG form
   */
  render(form: Form, options: { size?: Size; format: Format }): Promise<Form>;
}

/** Starts `count` worker processes, and stops them when the service stops. */
export async function openWorkers(
  service: Pick<Service, 'log' | 'onStop'>,
  { count }: { count: number },
): Promise<Workers> {
  const pool = new WorkerPool(service.log);
  service.onStop('worker processes', () => pool.close());
  await pool.start(count);
  return {
    ingest: async (file, { kind, dark, isStored = false }) => {
      const answer = await pool.run({ name: 'ingest', file, kind, dark, isStored });
      return resultOf<Ingested>(answer, 'invalid_argument');
    },
    render: async (form, { size, format }) => {
      if (format === 'svg') return resized(form, size);
      const answer = await pool.run({ name: 'render', form, longer: size, format });
      return resultOf<Form>(answer, 'failed_precondition');
    },
  };
}

/** Resizes an SVG: the text stays the same but for its width and height. */
function resized(form: Form, size: Size | undefined): Form {
  if (size === undefined) return form;
  const target = scaled(form, size);
  return { ...form, ...target, bytes: Buffer.from(resizeSvg(Buffer.from(form.bytes).toString(), target)) };
}

/** Returns the result of a job. `blame` is the kind of fault if the picture itself ended the worker. */
function resultOf<T extends Ingested | Form>(
  answer: JobOutcome,
  blame: 'invalid_argument' | 'failed_precondition',
): T {
  switch (answer.outcome) {
    case 'done':
      return answer.result as T;
    case 'refused':
      throw new Fault('invalid_argument', answer.message);
    case 'ended':
      throw answer.why === 'busy_machine'
        ? new Fault('unavailable', 'the machine is too busy to make the picture: try again in a second')
        : new Fault(blame, ENDINGS[answer.why]);
    default:
      throw new Error(`a worker failed: ${answer.outcome === 'failed' ? answer.message : answer.outcome}`);
  }
}

const ENDINGS: Record<Exclude<Ending, 'busy_machine'>, string> = {
  time: 'the picture takes 2 s or more to make: simplify it, or scale it down',
  memory: 'the picture takes more than 256 MB of memory to make: simplify it, or scale it down',
  crash: 'the picture ended the program that reads it: it is damaged; save it again',
};
