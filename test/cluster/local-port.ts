import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A port of this machine that leads into the cluster. */
export interface LocalPort {
  /** `127.0.0.1:<port>` */
  address: string;
  close(): Promise<void>;
}

/** Runs `kubectl proxy` or `kubectl port-forward` on a free port, with whatever credentials kubectl has. */
export async function openLocalPort(...args: string[]): Promise<LocalPort> {
  const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const close = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill();
    await once(child, 'exit');
  };
  // Read on to the end: a full pipe would stop it.
  const lines = createInterface(child.stdout);
  const address = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const [found] = /127\.0\.0\.1:\d+/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    lines.on('close', () => reject(new Error(`kubectl ${args.join(' ')} opened no port`)));
    child.on('error', reject);
    child.stderr.pipe(process.stderr, { end: false });
  });
  // From now on it tells of calls that were given up.
  child.stderr.unpipe().resume();
  return { address, close };
}
