/** The kinds of images, and the folder of each in paths. */
export const FOLDERS = { logo: 'logos', banner: 'banners', exchange: 'exchanges' } as const;
export type PictureKind = keyof typeof FOLDERS;

/** The formats in which images are stored and answered. */
export const FORMATS = ['svg', 'png', 'webp', 'avif'] as const;
export type Format = (typeof FORMATS)[number];

/** The bounds of the longer side, in pixels, that a request can ask for. */
export const SIZES = [32, 64, 128, 256, 512] as const;
export type Size = (typeof SIZES)[number];
/** The bound of the longer side of an image's small form, in pixels. */
export const SMALL_SIZE = 64;

export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** An encoded picture. */
export interface Form {
  format: Format;
  /** Pixels. */
  width: number;
  height: number;
  bytes: Uint8Array;
}

/** The change that makes a form readable on its background. */
export type Treatment = 'as_given' | 'recoloured' | 'plate';

/** A picture that the service does not take. The message is for the person who sent it: why, and what to do. */
export class Refused extends Error {
  override readonly name = 'Refused';
}
