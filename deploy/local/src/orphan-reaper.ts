import { type ChildProcess, spawn } from 'node:child_process';

// Reads lines of process ids. Its input ends when this process ends, in whatever way; it then stops the processes of the
// last line, first gently. After an orderly stop the last line is empty.
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

/** Ends `pid` when this process ends, even if it is killed without notice. */
export function endsWithThisProcess(pid: number): void {
  children.add(pid);
  tellReaper();
}

/** To be called once `pid` has ended, as another process may get its number next. */
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
  // Its own session: a Ctrl-C at the terminal is not for the reaper.
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
