/** The messages that the service and its workers send each other. */
import type { Form, Format, PictureKind } from '../image/image.ts';
import type { Ingested } from '../ingest/ingest.ts';

export type Job =
  | { name: 'ingest'; file: Uint8Array; kind: PictureKind; dark: Uint8Array | undefined; isStored: boolean }
  | { name: 'render'; form: Form; longer: number | undefined; format: Exclude<Format, 'svg'> };

/** `ready` is sent once at the start. Each job gets one of the other messages. */
export type Reply =
  | { outcome: 'ready' }
  | { outcome: 'done'; result: Ingested | Form }
  /** The job's picture is not taken. The message is for the person who sent it. */
  | { outcome: 'refused'; message: string }
  /** A defect of the service. */
  | { outcome: 'failed'; message: string };
