import { randomBytes } from 'node:crypto';
import type { Connection } from '../connection.ts';

const LASTS_MS = 8 * 3_600_000;
const MOST = 1_000;

/** An operator who has signed in. The calls for the operator's pages use the operator's own credential. */
export interface Session {
  operator: string;
  connection: Connection;
}

export interface Sessions {
  /** Returns the session's id, which nobody can guess. */
  begin(session: Session): string;
  of(id: string | undefined): Session | undefined;
  end(id: string | undefined): void;
  endAll(): void;
}

/** Sessions in memory: they end after eight hours, or with the process. Beyond 1,000, the oldest ends. */
export function createSessions(nowMs: () => number = Date.now): Sessions {
  const sessions = new Map<string, Session & { untilMs: number }>();
  const end = (id: string) => {
    sessions.get(id)?.connection.close();
    sessions.delete(id);
  };
  return {
    begin: (session) => {
      const [oldest] = sessions.keys();
      if (oldest !== undefined && sessions.size >= MOST) end(oldest);
      const id = randomBytes(32).toString('base64url');
      sessions.set(id, { ...session, untilMs: nowMs() + LASTS_MS });
      return id;
    },
    of: (id = '') => {
      const session = sessions.get(id);
      if (session && session.untilMs > nowMs()) return session;
      end(id);
      return undefined;
    },
    end: (id = '') => end(id),
    endAll: () => {
      for (const id of sessions.keys()) end(id);
    },
  };
}
