import { type ChildProcess, spawn } from 'node:child_process';

// The script reads lines of process ids. Its input ends when this process ends in any way. The script then stops the processes of
// the last line with SIGTERM, and after five seconds with SIGKILL. After an orderly stop the last line is empty.
const SCRIPT = `
while read -r line; do pids=$line; done
[ -n "$pids" ] || exit 0
for pid in $pids; do kill -TERM "$pid" 2>/dev/null; done
tries=0
while [ $tries -lt 50 ]; do
  alive=
  for pid in $pids; do kill -0 "$pid" 2>/dev/null && alive=1; done
  [ -n "$alive" ] || exit 0
  sleep 0.1
  tries=$((tries + 1))
done
for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
`;

const children = new Set<number>();
let reaper: ChildProcess | undefined;

/** Makes sure that `pid` ends when this process ends, even if this process is killed with SIGKILL. */
export function endsWithThisProcess(pid: number): void {
  children.add(pid);
  tellReaper();
}

/** Has to be called once `pid` has ended, because another process may get the same id. */
export function hasEnded(pid: number): void {
  children.delete(pid);
  tellReaper();
}

function tellReaper(): void {
  if (reaper === undefined) {
    if (children.size === 0) return;
    reaper = startReaper();
  }
  reaper.stdin?.write(`${[...children].join(' ')}\n`);
}

function startReaper(): ChildProcess {
  // The reaper has its own session, so that a Ctrl-C at the terminal does not end it.
  const child = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  const lost = () => {
    if (reaper !== child) return;
    reaper = undefined;
    tellReaper();
  };
  child.once('exit', lost);
  child.once('error', lost);
  child.stdin.on('error', () => {});
  child.unref();
  (child.stdin as unknown as { unref?: () => void }).unref?.();
  return child;
}
