import type { Announce } from '../src/storage/announcer.ts';

/** Makes the writes of a store whose changes nobody listens to. */
export const unheard: Announce = (_keys, write) => write();
