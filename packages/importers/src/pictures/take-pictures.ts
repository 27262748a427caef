import { PICTURE_FIELDS, type PictureFieldName } from '@brand-data/records';
import type { BrandPicture, PictureFile } from '../framework/picture.ts';
import { unusable } from '../framework/picture.ts';
import { namesPicture, pictureFileOf } from './picture-files.ts';

const FIELDS = Object.keys(PICTURE_FIELDS) as PictureFieldName[];

/**
 * Separates a record as people write it into the record and its pictures. A field of a picture holds either paths on the logo host,
 * which stay, or a picture: `"./acme.svg"`, `"data:…"`, `"simple-icons:acme"`, or `{"light": …, "dark": …}` of these.
 *
 * @param folder has the files that the record names
 */
export function takePictures(value: unknown, folder: string): { value: unknown; pictures: BrandPicture[] } {
  const pictures: BrandPicture[] = [];
  let rest = value;
  for (const field of FIELDS) {
    const path = field.split('.');
    const stated = path.reduce<unknown>((at, name) => Object(at)[name], value);
    const picture = pictureIn(field, stated, folder);
    if (picture === undefined) continue;
    pictures.push(picture);
    rest = without(rest, path);
  }
  return { value: rest, pictures };
}

function pictureIn(field: PictureFieldName, stated: unknown, folder: string): BrandPicture | undefined {
  if (typeof stated === 'string') {
    if (namesPicture(stated)) return { field, light: pictureFileOf(stated, folder) };
    // The field holds facts about two pictures, so a text alone is not a path on the logo host.
    if (PICTURE_FIELDS[field].hasVariants)
      return { field, light: unusable(`"${stated.slice(0, 100)}" is no file: write "./" before its name`) };
    return undefined;
  }
  if (typeof stated !== 'object' || stated === null || !('light' in stated || 'dark' in stated))
    return undefined;
  const { light, dark } = stated as { light?: unknown; dark?: unknown };
  return {
    field,
    light: light === undefined ? unusable('a dark form needs a light form') : formOf(light, folder),
    ...(dark !== undefined && { dark: formOf(dark, folder) }),
  };
}

function formOf(stated: unknown, folder: string): PictureFile {
  return typeof stated === 'string' ? pictureFileOf(stated, folder) : unusable('a form must be a text');
}

/** Returns a copy without the field, and without the groups that then have no field. */
function without(value: unknown, [name = '', ...rest]: readonly string[]): unknown {
  const { [name]: old, ...others } = value as Record<string, unknown>;
  const left = rest.length === 0 ? undefined : without(old, rest);
  if (left !== undefined) return { ...others, [name]: left };
  return Object.keys(others).length > 0 ? others : undefined;
}
