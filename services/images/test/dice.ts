import { createRandom } from '@brand-data/testing/random';

/** Makes random numbers that are the same for the same seed. */
export class Dice {
  readonly #unit: () => number;
  constructor(seed: number) {
    this.#unit = createRandom(seed).unit;
  }
  /** A whole number from 0 to `below` - 1. */
  roll(below: number): number {
    return Math.floor(this.#unit() * below);
  }
  pick<T>(values: readonly T[]): T {
    return values[this.roll(values.length)] as T;
  }
  /** The text in random upper and lower case. */
  inAnyCase(text: string): string {
    return text.replace(/./gs, (letter) => this.pick([letter.toUpperCase(), letter.toLowerCase()]));
  }
}

/** Makes a file by chance. */
export type Recipe = (dice: Dice) => Buffer | Promise<Buffer>;
