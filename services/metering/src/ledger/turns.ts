/** Runs a task when all earlier ones of the same name have ended, whatever came of them. */
export type TakeTurn = <T>(name: string, task: () => Promise<T>) => Promise<T>;

/** Turns by name; those of different names run at the same time. */
export interface Turns {
  take: TakeTurn;
  /** Whether a task of this name runs or waits. */
  isTaken(name: string): boolean;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    isTaken: (name) => last.has(name),
    take: async (name, task) => {
      const turn = (last.get(name) ?? Promise.resolve()).then(task, task);
      last.set(name, turn);
      try {
        return await turn;
      } finally {
        if (last.get(name) === turn) last.delete(name);
      }
    },
  };
}

/** Gathers items that wait for the turn of their name, to be done all together in one. Rejects when `most` wait. */
export function gatherForTurn<Item, Result>(
  takeTurn: TakeTurn,
  { most, tooMany }: { most: number; tooMany: () => Error },
  doTogether: (items: readonly Item[]) => Promise<Result>,
): (name: string, item: Item) => Promise<Result> {
  const gatherings = new Map<string, { items: Item[]; done: Promise<Result> }>();
  return async (name, item) => {
    const gathering = gatherings.get(name);
    if (gathering) {
      if (gathering.items.length >= most) throw tooMany();
      gathering.items.push(item);
      return gathering.done;
    }
    const items = [item];
    const done = takeTurn(name, () => {
      gatherings.delete(name);
      return doTogether(items);
    });
    gatherings.set(name, { items, done });
    return done;
  };
}
