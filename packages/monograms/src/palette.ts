import { hash } from 'node:crypto';

/**
 * The colours of the plates, by hue. Each has about the same luminance, so that white letters on it have a contrast of more than
 * 4.5, and the plate has one of more than 3 against white and against #111111 pages (WCAG 2.2).
 */
export const PALETTE = [
  '#c93166',
  '#c83939',
  '#b94f1f',
  '#a46115',
  '#916d0e',
  '#6a7811',
  '#2b8134',
  '#058158',
  '#017f72',
  '#027b8a',
  '#0077a6',
  '#006cd3',
  '#4c5ee2',
  '#7552dc',
  '#9745c8',
  '#b63896',
] as const;

export type PlateColour = (typeof PALETTE)[number];

/** Returns the colour of an id. Ids are spread evenly over the palette. */
export function colourOf(id: string): PlateColour {
  const [byte = 0] = hash('sha256', id, 'buffer');
  return PALETTE[byte % PALETTE.length] ?? PALETTE[0];
}
