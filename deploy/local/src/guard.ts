import { type ChildProcess, spawn } from 'node:child_process';

// Reads lines of process ids; at the end of its input, which comes however this process ends, it stops those of the
// last line, first gently. An orderly stop leaves an empty last line.
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

const guarded = new Set<number>();
let guard: ChildProcess | undefined;

/** `pid` ends when this process does, though it were killed without notice. */
export function endsWithThisProcess(pid: number): void {
  guarded.add(pid);
  tellGuard();
}

/** To be called once `pid` has ended: the number may be another process's next. */
export function hasEnded(pid: number): void {
  guarded.delete(pid);
  tellGuard();
}

function tellGuard(): void {
  if (guard === undefined) {
    if (guarded.size === 0) return;
    guard = startGuard();
  }
  guard.stdin?.write(`${[...guarded].join(' ')}\n`);
}

function startGuard(): ChildProcess {
  // Its own session: a Ctrl-C at the terminal is not for the guard.
  const child = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  const lost = () => {
    if (guard !== child) return;
    guard = undefined;
    tellGuard();
  };
  child.once('exit', lost);
  child.once('error', lost);
  child.stdin.on('error', () => {});
  child.unref();
  (child.stdin as unknown as { unref?: () => void }).unref?.();
  return child;
}
