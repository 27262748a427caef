/**
 * Turns a number from 0 to 1 into a rank from 0 to `count` - 1. The probability of a rank is proportional to 1 / (rank + 1).
 */
export function zipfRank(count: number, unit: number): number {
  return Math.min(count - 1, Math.floor((count + 1) ** unit) - 1);
}

/**
 * Like `zipfRank`, with probabilities proportional to 1 / (rank + 1 + flat), so that no word is in a large share of the names
 * (Mandelbrot).
 */
export function zipfMandelbrotRank(count: number, flat: number, unit: number): number {
  return Math.min(count - 1, Math.floor((flat + 1) * ((count + flat + 1) / (flat + 1)) ** unit - flat - 1));
}
