/** Returns a category as records write it: "industrial_conglomerates". '' if the text has no ASCII letters or digits. */
export function categorySlug(text: string): string {
  return wordsOf(text).replaceAll(' ', '_');
}

/** Returns an id as records write it: "berkshire-hathaway". '' if the text has no ASCII letters or digits. */
export function slugOf(text: string): string {
  return wordsOf(text).replaceAll(' ', '-');
}

/** Letters that NFKD does not decompose into an ASCII letter and accents. */
const FOLDED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
};

/** Ids are made from the result. Any change of this function would therefore change ids of stored records. */
function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[ßæœøłđðþ]/g, (letter) => FOLDED[letter] ?? letter)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f'’]/g, '')
    .replaceAll('&', ' and ')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
}
