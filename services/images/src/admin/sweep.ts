import type { SweepImagesRequest } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { imageIdOfPath } from '../image/image.ts';
import type { ImageStore } from '../store/store.ts';

/** For so long an image that no record names goes on answering, because pages and caches may still have its URL. */
export const KEPT_UNNAMED_MS = 30 * 24 * 3_600_000;
const MOST_PATHS_IN_MESSAGE = 10_000;
const MOST_NAMED = 4_000_000;
const MOST_MISSING = 100;
const PAGE = 2_000;

export interface Swept {
  /** Different images that the paths named and that are stored. */
  named: number;
  /** Stored images that no path named and that were not put during the sweep. */
  unnamed: number;
  removed: number;
  /** The first paths that named no stored image. */
  missing: string[];
}

/**
 * Notes which images the paths name. After the last message, which is complete, notes which images no path has named, and removes
 * those that an earlier sweep found unnamed at least KEPT_UNNAMED_MS ago and that no sweep has named and no put has stored since
 * then. If the messages end without that, or reading them throws, nothing is removed. Every write is conditional or can be
 * repeated: a sweep may stop at any line, and several may run at once.
 */
export async function sweepImages(
  store: ImageStore,
  messages: AsyncIterable<SweepImagesRequest>,
  nowMs: () => number,
): Promise<Swept> {
  const began = new Date(nowMs());
  const named = new Set<number>();
  const missing: string[] = [];
  let isComplete = false;
  for await (const { paths, complete } of messages) {
    isComplete = complete;
    if (paths.length > MOST_PATHS_IN_MESSAGE)
      throw new Fault('invalid_argument', `give at most ${MOST_PATHS_IN_MESSAGE} paths in a message`);
    const unknown = await nameImages(store, named, paths);
    missing.push(...unknown.slice(0, MOST_MISSING - missing.length));
    if (named.size > MOST_NAMED)
      throw new Fault('resource_exhausted', `a sweep can name at most ${MOST_NAMED} images`);
  }
  if (!isComplete)
    throw new Fault('failed_precondition', 'the paths were cut off, so nothing is removed: sweep again');
  return { ...(await removeUnnamed(store, named, began)), missing };
}

/** Marks the images of the paths as named. Returns the paths of images that are not stored. */
async function nameImages(store: ImageStore, named: Set<number>, paths: string[]): Promise<string[]> {
  const missing: string[] = [];
  const pathOf = new Map<string, string>();
  for (const path of paths) {
    const id = imageIdOfPath(path);
    if (id === undefined) missing.push(path);
    else if (!named.has(keyOf(id))) pathOf.set(id, path);
  }
  const ids = [...pathOf.keys()];
  if (ids.length === 0) return missing;
  await store.markNamed(ids);
  const stored = new Set((await store.readUseOf(ids)).map(({ id }) => id));
  for (const [id, path] of pathOf) {
    named.add(keyOf(id));
    if (!stored.has(id)) missing.push(path);
  }
  return missing;
}

async function removeUnnamed(
  store: ImageStore,
  named: ReadonlySet<number>,
  began: Date,
): Promise<Omit<Swept, 'missing'>> {
  const cutoff = new Date(began.getTime() - KEPT_UNNAMED_MS);
  const counts = { named: 0, unnamed: 0, removed: 0 };
  for (let after = ''; ; ) {
    const page = await store.listUse(after, PAGE);
    const last = page.at(-1);
    if (!last) return counts;
    after = last.id;
    const unnamed = page.filter(({ id, putAt }) => !named.has(keyOf(id)) && putAt < began);
    const idsOf = (is: (since: Date | undefined) => boolean) =>
      unnamed.filter(({ unnamedSince }) => is(unnamedSince)).map(({ id }) => id);
    const fresh = idsOf((since) => since === undefined);
    const due = idsOf((since) => since !== undefined && since <= cutoff);
    if (fresh.length > 0) await store.markUnnamed(fresh, began);
    const removed = due.length > 0 ? await store.removeUnnamed(due, cutoff) : 0;
    counts.named += page.filter(({ id }) => named.has(keyOf(id))).length;
    counts.unnamed += unnamed.length - removed;
    counts.removed += removed;
  }
}

/**
 * Returns the first 52 bits of an image's hash, which take less memory than its id. If two images ever share them, a sweep takes
 * both for named and keeps both.
 */
function keyOf(id: string): number {
  return Number.parseInt(id.slice(id.indexOf('/') + 1, id.indexOf('/') + 14), 16);
}
