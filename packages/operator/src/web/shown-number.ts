const FORMAT = new Intl.NumberFormat('en');

/** "1,204" */
export function shownNumber(value: number): string {
  return FORMAT.format(value);
}

/** "80.5 %". Of nothing, there is no share. */
export function shownShare(part: number, whole: number): string {
  return whole === 0 ? 'none' : `${FORMAT.format(Math.round((1_000 * part) / whole) / 10)} %`;
}
