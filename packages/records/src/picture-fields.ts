import { ImageKind, type PutImageResponse } from '@brand-data/contracts';
import { withField } from './fields.ts';

interface PictureField {
  kind: ImageKind;
  /** Whether the field holds a big and a small picture with their figures. Otherwise it holds the path of the big one. */
  hasVariants: boolean;
}

/** The fields of a record that hold a picture, by their dotted names. */
export const PICTURE_FIELDS = {
  'images.logo': { kind: ImageKind.LOGO, hasVariants: true },
  'images.stock_logo': { kind: ImageKind.LOGO, hasVariants: true },
  'images.banner': { kind: ImageKind.BANNER, hasVariants: false },
  'manager.logo': { kind: ImageKind.LOGO, hasVariants: false },
  'stock.exchange_logo': { kind: ImageKind.EXCHANGE, hasVariants: false },
} as const satisfies Record<string, PictureField>;

export type PictureFieldName = keyof typeof PICTURE_FIELDS;

/** Returns a copy of a brand, or of an equally shaped message, whose field names the picture that images has stored. */
export function withStoredPicture<T extends object>(
  brand: T,
  field: PictureFieldName,
  { big, small }: Pick<PutImageResponse, 'big' | 'small'>,
): T {
  return withField(brand, field, PICTURE_FIELDS[field].hasVariants ? { big, small } : big?.path);
}
