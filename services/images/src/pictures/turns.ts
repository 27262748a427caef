import { Fault } from '@brand-data/runtime';

/** Those who wait for a piece of work: the networks of their addresses. More may come while the work waits. */
export type Clients = ReadonlySet<string>;

interface Waiting {
  clients: Clients;
  /** Begins the task as a turn of this client. */
  resolve(client: string): void;
  reject(error: Fault): void;
}

/**
 * Runs at most `most` tasks at once, and shares these turns among clients: a turn goes to a task of the client that has the fewest
 * of the turns under way and of the last eight that ended, and of several such tasks to the one that waits longest. Up to
 * `mostWaiting` further tasks wait, each at most `waitMs`. Beyond that, the client with the most waiting tasks loses its newest. A
 * task that waits too long or loses its place is not run, and its promise rejects with Fault `resource_exhausted`.
 */
export function createLimiter(bounds: { most: number; mostWaiting: number; waitMs: number }) {
  const waiting = new Set<Waiting>();
  /** The client of each turn. */
  const running: string[] = [];
  /** The clients of the last turns: if only one task runs at once, nobody has a turn when it ends. */
  const ended: string[] = [];

  const turn = (clients: Clients) => {
    if (waiting.size >= bounds.mostWaiting) makeRoom(waiting, clients);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const task: Waiting = { clients, resolve, reject };
    waiting.add(task);
    const tooLong = 'other pictures take too long: try again in a second';
    const late = setTimeout(() => refuse(waiting, task, tooLong), bounds.waitMs);
    return promise.finally(() => clearTimeout(late));
  };

  const pass = (client: string) => {
    running.splice(running.indexOf(client), 1);
    ended.push(client);
    if (ended.length > REMEMBERED) ended.shift();
    const turns = countOf([...running, ...ended]);
    const [next] = [...waiting]
      .map((task) => ({ task, ...fewest(task.clients, turns) }))
      .toSorted((one, other) => one.count - other.count);
    if (next === undefined) return;
    waiting.delete(next.task);
    running.push(next.client);
    next.task.resolve(next.client);
  };

  return async <T>(clients: Clients, task: () => Promise<T>): Promise<T> => {
    const isFree = running.length < bounds.most;
    const client = isFree ? fewest(clients, countOf(running)).client : await turn(clients);
    if (isFree) running.push(client);
    try {
      return await task();
    } finally {
      pass(client);
    }
  };
}

const REMEMBERED = 8;
const NO_ROOM = 'too many pictures wait to be made: try again in a second';

/** Refuses the newest task of the client with the most waiting tasks, or throws if the newcomer would then have as many. */
function makeRoom(waiting: Set<Waiting>, newcomer: Clients): void {
  const counts = countOf([...waiting].flatMap(({ clients }) => [...clients]));
  const all = [...waiting].map((task) => ({ task, ...fewest(task.clients, counts) }));
  const most = Math.max(...all.map(({ count }) => count));
  const loser = all.findLast(({ count }) => count === most);
  if (loser === undefined || most <= fewest(newcomer, counts).count + 1)
    throw new Fault('resource_exhausted', NO_ROOM);
  refuse(waiting, loser.task, NO_ROOM);
}

function refuse(waiting: Set<Waiting>, task: Waiting, detail: string): void {
  waiting.delete(task);
  task.reject(new Fault('resource_exhausted', detail));
}

function countOf(clients: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const client of clients) counts.set(client, (counts.get(client) ?? 0) + 1);
  return counts;
}

/** Returns the client that has the fewest, and how many. There is at least one client. */
function fewest(clients: Clients, counts: ReadonlyMap<string, number>): { client: string; count: number } {
  let least = { client: '', count: Number.POSITIVE_INFINITY };
  for (const client of clients) {
    const count = counts.get(client) ?? 0;
    if (count < least.count) least = { client, count };
  }
  return least;
}

/** Work that all who ask for its result at the same time wait for together. */
export class SharedWork<Result> {
  readonly #underWay = new Map<string, { making: Promise<Result>; clients: Set<string> }>();

  isUnderWay(what: string): boolean {
    return this.#underWay.has(what);
  }

  /** Returns the work under way that makes `what`, or begins it. `make` gets the set of all who wait, which grows meanwhile. */
  share(what: string, client: string, make: (clients: Clients) => Promise<Result>): Promise<Result> {
    const underWay = this.#underWay.get(what);
    if (underWay) {
      underWay.clients.add(client);
      return underWay.making;
    }
    const clients = new Set([client]);
    const making = make(clients).finally(() => this.#underWay.delete(what));
    this.#underWay.set(what, { making, clients });
    return making;
  }
}
