import { readdirSync, readFileSync } from 'node:fs';

/** Returns the ids of the processes that this process has started and that still run. */
export function ownChildren(): number[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.map(Number).filter((pid) => {
    const [state, parent] = statOf(pid);
    return state !== 'Z' && parent === String(process.pid);
  });
}

function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  } catch {
    return [];
  }
}
