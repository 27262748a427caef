import { createHash } from 'node:crypto';
import type { Form, Format } from '../src/image/image.ts';
import type { Workers } from '../src/workers/workers.ts';

/** Returns a file that the stand-in takes: JSON with what the picture is. */
export function fileOf(picture: { name: string; format?: Format; width?: number; height?: number }): Buffer {
  return Buffer.from(JSON.stringify(picture));
}

/**
 * Workers that draw nothing: a form's bytes say what it shows and how. They keep the rules about sizes and formats that the
 * service relies on.
 */
export const standInWorkers: Workers = {
  ingest: async (file, { dark }) => {
    const light = formOf(file);
    const darkForm = dark && formOf(dark);
    return {
      light,
      ...(darkForm ? { dark: darkForm } : {}),
      treatments: { light: 'as_given', dark: darkForm ? 'recoloured' : 'as_given' },
    };
  },
  render: async (form, { size, format }) => {
    const longer = Math.max(form.width, form.height);
    const scale = size === undefined ? 1 : form.format === 'svg' ? size / longer : Math.min(1, size / longer);
    const width = Math.max(1, Math.round(form.width * scale));
    const height = Math.max(1, Math.round(form.height * scale));
    const of = createHash('sha256').update(form.bytes).digest('hex');
    return { format, width, height, bytes: Buffer.from(JSON.stringify({ of, format, width, height })) };
  },
};

function formOf(file: Uint8Array): Form {
  const { name, format = 'svg', width = 512, height = 512 } = JSON.parse(Buffer.from(file).toString());
  return { format, width, height, bytes: Buffer.from(JSON.stringify({ name, format, width, height })) };
}
