import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A port of this machine that is forwarded into the cluster. */
export interface LocalPort {
  /** `127.0.0.1:<port>` */
  address: string;
  close(): Promise<void>;
}

const OPEN_WITHIN_MS = 15_000;

/**
 * Runs `kubectl proxy` or `kubectl port-forward` on a free port, with kubectl's own credentials. If the port is not open within
 * 15 s, ends kubectl and rejects.
 */
export async function openLocalPort(...args: string[]): Promise<LocalPort> {
  const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const close = async () => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill();
    await once(child, 'exit');
  };
  // Read all output, because kubectl would block on a full pipe.
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
    // From now on kubectl reports only calls that were aborted.
    child.stderr.unpipe().resume();
  }
}
