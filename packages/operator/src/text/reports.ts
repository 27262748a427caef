import type { BytesRead, ImportCounts } from '@brand-data/importers';

/** "12,000 read, 7,900 a second, 34 %, 1 min 20 s left; 11,990 created, 10 refused". */
export function progressLine(counts: Partial<ImportCounts>, bytes: BytesRead, seconds: number): string {
  const share = bytes.total > 0 ? Math.min(bytes.read / bytes.total, 1) : 0;
  const { read = 0 } = counts;
  const outcomes = (['created', 'changed', 'unchanged', 'refused', 'conflicts'] as const).flatMap((name) => {
    const count = counts[name] ?? 0;
    return count > 0 ? [`${figure(count)} ${name}`] : [];
  });
  const parts = [
    `${figure(read)} read`,
    ...(seconds >= 1 && read > 0 ? [`${figure(Math.round(read / seconds))} a second`] : []),
    ...(share > 0 ? [`${Math.floor(share * 100)} %`] : []),
    // The first two seconds are too short for an estimate.
    ...(share > 0 && seconds >= 2 ? [`${duration((seconds * (1 - share)) / share)} left`] : []),
  ].join(', ');
  return [parts, ...(outcomes.length > 0 ? [outcomes.join(', ')] : [])].join('; ');
}

/** "1 h 5 min", "2 min 10 s", "8 s". */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60)];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

/** Formats a number with thousands separators. */
export function figure(value: number): string {
  return value.toLocaleString('en-US');
}

export function inFile(path: string | undefined): string {
  return path === undefined ? '' : ` (${path})`;
}

/** Returns the lines under a title, and how many of `count` cases they do not show. */
export function titled(
  title: string,
  lines: readonly string[],
  count: number,
  shown = lines.length,
): string[] | undefined {
  if (count === 0) return undefined;
  return [title, ...lines, ...(count > shown ? [`  … and ${figure(count - shown)} more`] : [])];
}

/** Returns one line for each kind of case under a title: its first case, and how many more there are. */
export function titledKinds<T extends { from: string; more?: number }>(
  title: string,
  kinds: readonly T[],
  count: number,
  textOf: (first: T) => string,
): string[] | undefined {
  const lines = kinds.map((kind) => {
    const more = kind.more ? ` (and ${figure(kind.more)} more of this kind)` : '';
    return `  ${kind.from}: ${textOf(kind)}${more}`;
  });
  return titled(
    title,
    lines,
    count,
    kinds.reduce((sum, { more = 0 }) => sum + 1 + more, 0),
  );
}

/** @param count the number of all that was refused */
export function refusedLines(
  refusals: readonly { from: string; reason: string; more?: number }[],
  count: number,
) {
  return titledKinds('Refused', refusals, count, ({ reason }) => reason);
}

export function dryRunTitle(dryRun: boolean): string | undefined {
  return dryRun ? 'Nothing was written into the catalogue; this is what would be:' : undefined;
}
