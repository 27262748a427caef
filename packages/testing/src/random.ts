/** A small generator: the same seed gives the same numbers on every machine. */
export interface Random {
  /** A number from 0 to 1, without 1. */
  unit(): number;
  between(from: number, to: number): number;
  /** A whole number from `from` to `to`, both included. */
  whole(from: number, to: number): number;
  /** A whole number from 0 to `count` - 1. */
  below(count: number): number;
  chance(probability: number): boolean;
  /** One of at least one item. */
  pick<T>(items: readonly T[]): T;
  shuffled<T>(items: readonly T[]): T[];
}

export function createRandom(seed: number): Random {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  // mulberry32
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (from: number, to: number) => from + unit() * (to - from);
  const whole = (from: number, to: number) => from + Math.floor(unit() * (to - from + 1));
  const below = (count: number) => whole(0, count - 1);
  return {
    unit,
    between,
    whole,
    below,
    chance: (probability) => unit() < probability,
    pick: <T>(items: readonly T[]) => items[below(items.length)] as T,
    shuffled: (items) => {
      const keyed = items.map((item) => ({ item, key: unit() }));
      return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
    },
  };
}
