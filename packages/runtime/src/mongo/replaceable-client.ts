import type { ClientSession, Collection, Db, MongoClient } from 'mongodb';

/**
 * Hides which client is in use from code that keeps databases and collections, because the driver cannot change the credentials of
 * a client. An operation in a session runs on the session's client.
 */
export function replaceableClient(first: MongoClient) {
  let current = first;
  const clients = new WeakMap<ClientSession, MongoClient>();
  const started = (session: ClientSession, client: MongoClient): ClientSession => {
    clients.set(session, client);
    return session;
  };

  /** Returns the client of the session that is among an operation's options, or else the newest. */
  const clientOf = (args: readonly unknown[]): MongoClient => {
    for (const options of args) {
      if (typeof options !== 'object' || options === null || !('session' in options)) continue;
      const client = clients.get(options.session as ClientSession);
      if (client) return client;
    }
    return current;
  };

  /** Behaves as what `of` returns for the operation's client, except for the methods `own`. */
  const following = <Target extends object>(
    of: (client: MongoClient) => Target,
    own: { [Method in keyof Target]?: unknown } = {},
  ): Target =>
    new Proxy(of(first), {
      get: (_, name) => {
        if (name in own) return own[name as keyof Target];
        const target = of(current);
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          const chosen = of(clientOf(args));
          return Reflect.apply(Reflect.get(chosen, name, chosen) as typeof value, chosen, args);
        };
      },
    });

  /** Makes something once for each client. */
  const once = <Made extends object>(make: (client: MongoClient) => Made) => {
    const made = new WeakMap<MongoClient, Made>();
    return (client: MongoClient): Made => {
      const before = made.get(client);
      if (before) return before;
      const now = make(client);
      made.set(client, now);
      return now;
    };
  };

  const db: MongoClient['db'] = (...named) => {
    const dbOf = once((client) => client.db(...named));
    const collection = (...which: Parameters<Db['collection']>): Collection =>
      following(once((client) => dbOf(client).collection(...which)));
    return following(dbOf, { collection });
  };
  const client = following((each) => each, {
    db,
    startSession: (...args: Parameters<MongoClient['startSession']>) =>
      started(current.startSession(...args), current),
    withSession: (...args: unknown[]) => {
      const owner = current;
      const run = args.pop() as (session: ClientSession) => Promise<unknown>;
      const [options = {}] = args as [object?];
      return owner.withSession(options, (session) => run(started(session, owner)));
    },
  });
  return {
    /** Behaves as the newest client. Its databases and collections do so too, for as long as they are kept. */
    client,
    /** New operations use this client from now on. Returns the one before, on which operations may still be under way. */
    replace: (next: MongoClient) => {
      const before = current;
      current = next;
      return before;
    },
  };
}
