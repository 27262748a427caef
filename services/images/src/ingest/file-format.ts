import { Refused } from '../image/image.ts';
import { encodingOf } from '../svg/read-svg.ts';

export type RasterFormat = 'png' | 'jpeg' | 'webp' | 'gif' | 'avif';

/** How a file of each format that is taken begins, in hexadecimal digits. A dot is any digit. */
const TAKEN: [RegExp, RasterFormat][] = [
  [/^89504e470d0a1a0a/, 'png'],
  [/^ffd8ff/, 'jpeg'],
  [/^52494646.{8}57454250/, 'webp'],
  [/^47494638(37|39)61/, 'gif'],
  [/^.{8}66747970617669(66|73)/, 'avif'],
];

const AS_PNG = 'save it as PNG, or as SVG if it is a drawing';
const AS_SVG = 'export the logo from it as SVG';
/** The same for formats that are not taken, with their names and what to do. */
const NOT_TAKEN: [RegExp, string, string][] = [
  [/^0000(01|02)00/, 'an icon (ICO)', AS_PNG],
  [/^424d/, 'a BMP', AS_PNG],
  [/^(49492[ab]00|4d4d002[ab])/, 'a TIFF', AS_PNG],
  [/^25504446/, 'a PDF', AS_SVG],
  [/^(252150|c5d0d3c6)/, 'PostScript', AS_SVG],
  [/^38425053/, 'a Photoshop file', AS_PNG],
  [/^.{8}66747970/, 'HEIC or a video', AS_PNG],
  [/^(ff0a|0000000c4a584c20)/, 'JPEG XL', AS_PNG],
  [/^(0000000c6a5020|ff4fff51)/, 'JPEG 2000', AS_PNG],
  [/^1f8b/, 'compressed (gzip, as in SVGZ)', 'unpack it'],
  [/^504b(03|05|07)/, 'an archive (ZIP)', 'unpack it and send the picture in it'],
];
const WEB_PAGE = /^(<!doctype\s+html|<html|<head|<body)/i;

/**
 * Returns the format of a file by its content, and ignores its name. Throws `Refused` if the file is not a picture in one of the
 * accepted formats.
 */
export function formatOf(bytes: Uint8Array): RasterFormat | 'svg' {
  const start = Buffer.from(bytes.subarray(0, 64)).toString('hex');
  for (const [pattern, format] of TAKEN) if (pattern.test(start)) return format;
  for (const [pattern, name, advice] of NOT_TAKEN)
    if (pattern.test(start)) throw new Refused(`the file is ${name}: ${advice}`);
  const text = new TextDecoder(encodingOf(bytes)).decode(bytes.subarray(0, 1024)).trimStart();
  if (WEB_PAGE.test(text))
    throw new Refused('the file is a web page (HTML): open it and save the picture that it shows');
  if (text.startsWith('<')) return 'svg';
  throw new Refused('the file is no picture: send SVG, PNG, JPEG, WebP, GIF or AVIF');
}
