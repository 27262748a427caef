import { readFileSync } from 'node:fs';

/** Whether this system's kernel reports the usage of other processes. Only Linux does. */
export const CAN_WATCH = process.platform === 'linux';

/** The unit of times in /proc on every architecture. */
const TICKS_PER_SECOND = 100;

/** Returns the resident memory of a process, in MiB: now, and the most that it ever had. Both are 0 if it cannot be read. */
export function residentMemoryOf(pid: number | undefined): { now: number; most: number } {
  const status = read(`/proc/${pid}/status`);
  const mebibytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024;
  return { now: mebibytes('VmRSS'), most: mebibytes('VmHWM') };
}

/** Returns the milliseconds of processor time that a process has used. 0 if they cannot be read. */
export function processorMsOf(pid: number | undefined): number {
  // The name of the program, in brackets, may contain spaces.
  const fields = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? (ticks * 1000) / TICKS_PER_SECOND : 0;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
