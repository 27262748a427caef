/** Makes random numbers that are the same for the same seed (mulberry32). */
export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  /** A whole number from 0 to `below` - 1. */
  roll(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
  }
  pick<T>(values: readonly T[]): T {
    const value = values[this.roll(values.length)];
    if (value === undefined) throw new Error('there is nothing to pick from');
    return value;
  }
  /** The text in random upper and lower case. */
  inAnyCase(text: string): string {
    return Array.from(text, (letter) =>
      this.roll(2) === 0 ? letter.toUpperCase() : letter.toLowerCase(),
    ).join('');
  }
}

/** Makes a file by chance. */
export type Recipe = (dice: Dice) => Buffer | Promise<Buffer>;
