import type { Source } from '@brand-data/contracts';
import type { PictureFieldName } from '@brand-data/records';

/** A picture that a source hands along with a brand. */
export interface BrandPicture {
  field: PictureFieldName;
  /** The form for light pages. */
  light: PictureFile;
  /** The form for dark pages. Without it, the service images makes one. */
  dark?: PictureFile | undefined;
}

/** The bytes of a picture. They are read only when the import uploads them. */
export interface PictureFile {
  /** Reads the file. Rejects with a PictureProblem if it is missing or unusable. */
  read(): Promise<Buffer>;
  /** How many bytes it keeps in memory before it is read. */
  held: number;
  /** Where the picture comes from, if not from where the record's other facts come from. */
  source?: Pick<Source, 'name' | 'url' | 'licence'>;
}

/** Why a picture cannot be used, and what to do. The import lists it, and sends the record without the picture. */
export class PictureProblem extends Error {
  override readonly name = 'PictureProblem';
}

/** The most bytes of a file, which is what the service images takes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Throws a PictureProblem if a picture of so many bytes is too large. */
export function checkSize(bytes: number): void {
  if (bytes > MAX_BYTES)
    throw new PictureProblem(`the picture has ${bytes} bytes: make it smaller than ${MAX_BYTES} (4 MiB)`);
  if (bytes === 0) throw new PictureProblem('the picture is empty');
}

/** Makes a picture that cannot be used. */
export function unusable(problem: string): PictureFile {
  return { read: () => Promise.reject(new PictureProblem(problem)), held: 0 };
}
