import type { Service } from '@brand-data/runtime';
import type { Form, Format, Kind, Size, Treatment } from '../image.ts';

/** What an image becomes before it is stored. */
export interface Ingested {
  light: Form;
  /** Absent if the light form serves dark pages too. */
  dark?: Form;
  treatments: Record<'light' | 'dark', Treatment>;
}

/** Decodes and draws pictures outside this process, each within a bound of time and memory. */
export interface Workers {
  /**
   * Sanitizes or re-encodes a file, measures it, and makes its light and dark form. Rejects with Fault `invalid_argument`, whose
   * message says why and what to do, if the file is refused. Rejects with Fault `resource_exhausted` if too much work waits.
   *
   * @param file of any content, at most 4 MiB
   * @param options.dark the file for dark pages; without it the dark form is made from the light one
   */
  ingest(file: Uint8Array, options: { kind: Kind; dark?: Uint8Array }): Promise<Ingested>;
  /**
   * Draws a stored form in a size and a format. The size bounds the longer side. A raster never grows, an SVG does, and an SVG
   * stays an SVG if `format` is svg. Rejects with Fault `resource_exhausted` if too much work waits, and with Fault `unavailable`
   * if the worker was killed.
   *
   * @param options.size without it, the form's own size
   * @param options.format svg only for an SVG form
   */
  render(form: Form, options: { size?: Size; format: Format }): Promise<Form>;
}

/** Starts `count` worker processes, and stops them when the service stops. */
export async function openWorkers(
  _service: Pick<Service, 'log' | 'metrics' | 'onStop'>,
  _options: { count: number },
): Promise<Workers> {
  const missing = async () => {
    throw new Error('not there yet');
  };
  return { ingest: missing, render: missing };
}
