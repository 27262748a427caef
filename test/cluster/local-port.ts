import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A port of this machine that leads into the cluster. */
export interface LocalPort {
  /** `127.0.0.1:<port>` */
  address: string;
  close(): Promise<void>;
}

const OPEN_WITHIN_MS = 15_000;

/**
 * Runs `kubectl proxy` or `kubectl port-forward` on a free port, with whatever credentials kubectl has. Rejects, and
 * leaves nothing behind, when there is no port in 15 s.
 */
export async function openLocalPort(...args: string[]): Promise<LocalPort> {
  const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const close = async () => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill();
    await once(child, 'exit');
  };
  // Read on to the end: a full pipe would stop it.
  const lines = createInterface(child.stdout);
  const tooLate = AbortSignal.timeout(OPEN_WITHIN_MS);
  const opened = new Promise<string>((resolve, reject) => {
    const failed = (why: string) => reject(new Error(`kubectl ${args.join(' ')} ${why}`));
    lines.on('line', (line) => {
      const [found] = /127\.0\.0\.1:\d+/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    lines.on('close', () => failed('opened no port'));
    tooLate.addEventListener('abort', () => failed('took too long'));
    child.on('error', reject);
    child.stderr.pipe(process.stderr, { end: false });
  });
  try {
    return { address: await opened, close };
  } catch (error) {
    await close();
    throw error;
  } finally {
    // From now on it tells of calls that were given up.
    child.stderr.unpipe().resume();
  }
}
