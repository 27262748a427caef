import { readFileSync } from 'node:fs';

/** Whether the kernel tells here what another process uses. Only Linux does. */
export const CAN_WATCH = process.platform === 'linux';

const MEBIBYTE = 1024 ** 2;
/** The unit of times in /proc on every architecture. */
const TICKS_PER_SECOND = 100;

/** The resident memory of a process, in MiB: now, and the most that it ever had. Undefined if it cannot be read. */
export function residentMemoryOf(pid: number): { now: number; most: number } | undefined {
  const status = read(`/proc/${pid}/status`);
  const mebibytes = (name: string) =>
    (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / MEBIBYTE;
  const [now, most] = [mebibytes('VmRSS'), mebibytes('VmHWM')];
  return Number.isFinite(now) && Number.isFinite(most) ? { now, most } : undefined;
}

/** Milliseconds of processor time that a process has used. Undefined if they cannot be read. */
export function processorMsOf(pid: number): number | undefined {
  // The name of the program, in brackets, may contain spaces.
  const fields = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? (ticks * 1000) / TICKS_PER_SECOND : undefined;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
