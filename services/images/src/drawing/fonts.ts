import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The folder of the fonts with which text is drawn. Pictures must not depend on the fonts of the machine. */
export const FONTS = join(
  dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')),
  'ttf',
);
/** The settings of fontconfig, which librsvg finds fonts with. They name the folder in which the process runs. */
export const FONT_SETTINGS = join(import.meta.dirname, '../../assets/fonts.conf');

/** The ranges of code points that the two fonts cover. They are read when a text is first drawn. */
let covered: Range[] | undefined;

/** Returns the text without the characters that no font covers, such as Chinese ones. They would be drawn as empty boxes. */
export function drawable(text: string): string {
  covered ??= ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'].flatMap((name) =>
    coverageOf(readFileSync(join(FONTS, name))),
  );
  const ranges = covered;
  return Array.from(text)
    .filter((character) => {
      const codePoint = character.codePointAt(0) ?? 0;
      return ranges.some(([first, last]) => codePoint >= first && codePoint <= last);
    })
    .join('');
}

type Range = readonly [first: number, last: number];

/** Returns the code points of a TrueType font, from the groups of its `cmap` table in format 12. */
function coverageOf(font: Buffer): Range[] {
  const tables = Array.from({ length: font.readUInt16BE(4) }, (_, index) => 12 + 16 * index);
  const record = tables.find((at) => font.toString('latin1', at, at + 4) === 'cmap');
  if (record === undefined) throw new Error('the font has no table cmap');
  const cmap = font.readUInt32BE(record + 8);
  const subtables = Array.from(
    { length: font.readUInt16BE(cmap + 2) },
    (_, index) => cmap + font.readUInt32BE(cmap + 8 + 8 * index),
  );
  const groups = subtables.find((at) => font.readUInt16BE(at) === 12);
  if (groups === undefined) throw new Error('the font has no table cmap of format 12');
  return Array.from({ length: font.readUInt32BE(groups + 12) }, (_, index) => {
    const at = groups + 16 + 12 * index;
    return [font.readUInt32BE(at), font.readUInt32BE(at + 4)];
  });
}
