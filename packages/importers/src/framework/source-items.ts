import type { Source } from '@brand-data/contracts';
import type { PictureFieldName } from '@brand-data/records';

/** A part of a source that its reader cannot read. The import refuses it and continues. */
export interface Unreadable {
  /** The place in the source: "brands.ndjson:12". */
  from: string;
  /** Why it cannot be read, and what to do. */
  problem: string;
  /** The line as it was read. */
  raw?: string | undefined;
}

/** A correct item of a source that does not describe a company, such as a bond or an exchange's test line. */
export interface Skipped {
  from: string;
  skipped: string;
}

/** An item that the import does not send, or that the catalogue refuses. `raw` is its line, or else the record. */
export type Refusal = Omit<Unreadable, 'problem'> & { reason: string };

/** A picture that the import does not upload. The record is sent without it. */
export interface RefusedPicture {
  from: string;
  /** The record's id in its source. */
  id: string;
  /** The field that would have it. */
  picture: string;
  reason: string;
}

/** An item to send, with its place, its line and its pictures. The import uploads the pictures, and the item then names them. */
export interface SourceItem<T> {
  from: string;
  item: T;
  raw?: string | undefined;
  pictures?: readonly BrandPicture[] | undefined;
  /** What else to do if its id occurs twice: ", or …". */
  ifTwice?: string | undefined;
}

/** One result of a source's reader. Some readers yield Skipped too. */
export type ReadItem<T> = SourceItem<T> | Unreadable;

/** How many bytes of its stored files a reader has read, of how many in total. A total of 0 means that it is unknown. */
export interface BytesRead {
  read: number;
  total: number;
}

/** An option of an import is wrong or does not fit the file. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
}

/** A picture that a source hands along with a brand. */
export interface BrandPicture {
  field: PictureFieldName;
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
