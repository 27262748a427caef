import { open, realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { PICTURE_FIELDS, type PictureFieldName } from '@brand-data/records';
import { type BrandPicture, type PictureFile, PictureProblem } from '../framework/source-items.ts';
import { drawIcon, iconifyPicture, SIMPLE_ICONS } from './icons.ts';

const FIELDS = Object.keys(PICTURE_FIELDS) as PictureFieldName[];
/** The most bytes of a file, which is what the service images takes. */
const MAX_BYTES = 4 * 1024 * 1024;
const ICON = 'simple-icons:';
const ICONIFY = 'iconify:';
/** A text that names a picture to store. Any other text may be a path on the logo host. */
const NAMED_PICTURE = /^(?:\.\.?\/|data:|simple-icons:|iconify:|(?:https?:)?\/\/)/i;

/**
 * Separates a record as people write it into the record and its pictures. A field of a picture holds either paths on the logo host,
 * which stay, or a picture: `"./acme.svg"`, `"data:…"`, `"simple-icons:acme"`, `"iconify:logos/acme"`, or `{"light": …, "dark": …}` of these.
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
    if (NAMED_PICTURE.test(stated)) return { field, light: pictureFileOf(stated, folder) };
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

/**
 * Returns the picture that a text names: a file of the folder ("acme.svg", "./logos/acme.svg"), a data: URI, or an icon of Simple
 * Icons ("simple-icons:acme") or of one of Iconify's sets ("iconify:logos/acme"). A picture of a file outside the folder, or of a URL, cannot be read.
 */
export function pictureFileOf(text: string, folder: string): PictureFile {
  if (/^data:/i.test(text)) return { read: async () => bytesOfDataUri(text), held: text.length };
  if (text.startsWith(ICON))
    return { read: () => drawIcon(text.slice(ICON.length)), held: 0, source: SIMPLE_ICONS };
  if (text.startsWith(ICONIFY)) return iconifyPicture(text.slice(ICONIFY.length));
  if (/^(?:[a-z][a-z+.-]*:)?\/\//i.test(text))
    return unusable('it is a URL, and an import fetches nothing from the network: download the file');
  return { read: () => readBelow(folder, text), held: 0 };
}

/** Reads a file that is in the folder or below it, also after all symbolic links are followed. */
async function readBelow(folder: string, name: string): Promise<Buffer> {
  const shown = name.slice(0, 200);
  const outside = `"${shown}" is outside the folder of the file that names it: move the picture into that folder`;
  if (isAbsolute(name) || name.split(/[/\\]/).includes('..')) throw new PictureProblem(outside);
  const path = await realpath(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(shown, error);
  });
  if (!path.startsWith((await realpath(folder)).replace(/\/?$/, sep))) throw new PictureProblem(outside);
  return readPictureFile(path, shown);
}

/** Reads a file of any folder. Throws a PictureProblem if it cannot be read or is too large. */
export async function readPictureFile(path: string, shown: string = path): Promise<Buffer> {
  try {
    await using handle = await open(path);
    const stats = await handle.stat();
    if (!stats.isFile()) throw new PictureProblem(`"${shown}" is no file`);
    checkSize(stats.size);
    return await handle.readFile();
  } catch (error) {
    if (error instanceof PictureProblem) throw error;
    throw unreadable(shown, error as NodeJS.ErrnoException);
  }
}

function unreadable(shown: string, { code }: NodeJS.ErrnoException): PictureProblem {
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new PictureProblem(`there is no file "${shown}": check its name`);
  const what = code === 'EACCES' ? 'may not be read by you: check its mode' : `cannot be read: ${code}`;
  return new PictureProblem(`"${shown}" ${what}`);
}

/**
 * Returns the data of "data:image/svg+xml;base64,PHN2…" or "data:image/svg+xml,%3Csvg…". The media type is ignored: images finds
 * it out.
 */
function bytesOfDataUri(uri: string): Buffer {
  const comma = uri.indexOf(',');
  if (comma < 0) throw new PictureProblem('the data: URI has no comma before its data');
  const bytes = /;\s*base64$/i.test(uri.slice(0, comma))
    ? bytesOfBase64(uri.slice(comma + 1))
    : bytesOfPercentText(uri.slice(comma + 1));
  checkSize(bytes.length);
  return bytes;
}

function bytesOfBase64(text: string): Buffer {
  const digits = text.replace(/%3D/gi, '=').replace(/\s/g, '');
  if (!/^[\w+/-]*={0,2}$/.test(digits)) throw new PictureProblem('the data: URI is not valid base64');
  return Buffer.from(digits, 'base64');
}

function bytesOfPercentText(text: string): Buffer {
  try {
    return Buffer.from(decodeURIComponent(text));
  } catch {
    throw new PictureProblem('the data: URI has a wrong percent-encoding');
  }
}

function checkSize(bytes: number): void {
  if (bytes > MAX_BYTES)
    throw new PictureProblem(`the picture has ${bytes} bytes: make it smaller than ${MAX_BYTES} (4 MiB)`);
  if (bytes === 0) throw new PictureProblem('the picture is empty');
}

function unusable(problem: string): PictureFile {
  return { read: () => Promise.reject(new PictureProblem(problem)), held: 0 };
}
