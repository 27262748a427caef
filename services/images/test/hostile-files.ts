import { Dice } from './dice.ts';
import { HOSTILE_RASTERS } from './hostile-rasters.ts';
import { HOSTILE_SVGS } from './hostile-svgs.ts';

/** A file that a stranger could send to do harm. */
export interface HostileFile {
  name: string;
  file: Buffer;
}

const RECIPES = [...Object.entries(HOSTILE_SVGS), ...Object.entries(HOSTILE_RASTERS)];

/** The file of a number. The same number gives the same file; numbers that follow each other try one way of harm after another. */
export async function hostileFile(number: number): Promise<HostileFile> {
  const [name, recipe] = RECIPES[number % RECIPES.length] ?? ['', () => Buffer.alloc(0)];
  return { name: `${name} ${number}`, file: await recipe(new Dice(number)) };
}
