/** A rank from 0 to `count` - 1 whose probability falls as 1 / (rank + 1), of a number from 0 to 1. */
export function zipfRank(count: number, unit: number): number {
  return Math.min(count - 1, Math.floor((count + 1) ** unit) - 1);
}

/** The same with a flat top, 1 / (rank + 1 + flat): no word is in more than a small part of all names (Mandelbrot). */
export function zipfMandelbrotRank(count: number, flat: number, unit: number): number {
  return Math.min(count - 1, Math.floor((flat + 1) * ((count + flat + 1) / (flat + 1)) ** unit - flat - 1));
}
