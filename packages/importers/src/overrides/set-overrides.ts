import { FieldOutcome } from '@brand-data/contracts';
import { type CatalogPort, retryWhileUnavailable } from '../framework/admin-port.ts';
import type { Refusal, Unreadable } from '../framework/source-items.ts';
import type { Setting } from './read-overrides.ts';

/** The most settings that the catalogue takes at once. */
const BATCH = 500;
const CALL_MS = 30_000;
/** The reason given for a field whose outcome is UNSPECIFIED here, because catalog is newer than bds. */
export const UNKNOWN_OUTCOME =
  'catalog answered with an outcome that this version of bds does not know: use the bds of catalog’s version';

export interface SetReport {
  /** Whether nothing was written. If so, the figures tell what the same call would write without the dry run. */
  dryRun: boolean;
  read: number;
  changed: number;
  unchanged: number;
  refusals: Refusal[];
}

/**
 * Sets fields of records. First it checks all settings. If the catalogue would refuse any of them, it writes none. The catalogue
 * may still refuse some during the writes, because an import or another batch has changed a record since the check. It may be run
 * again at any time, also after a failure.
 */
export async function setOverrides(
  catalog: CatalogPort,
  lines: readonly (Setting | Unreadable)[],
  { dryRun, onProgress }: { dryRun: boolean; onProgress?: (done: number, total: number) => void },
): Promise<SetReport> {
  const settings = lines.filter((line) => !('problem' in line)) as Setting[];
  const unreadable = lines.flatMap((line) =>
    'problem' in line ? [{ from: line.from, reason: line.problem, raw: line.raw }] : [],
  );
  const batches = batchesOfRecords(settings);
  let done = 0;
  const send = async (isDryRun: boolean): Promise<SetReport> => {
    const report: SetReport = { dryRun: true, read: lines.length, changed: 0, unchanged: 0, refusals: [] };
    for (const batch of batches) {
      const request = {
        settings: batch.map(({ id, field, value, by, reason }) => ({
          id,
          override: { field, ...(value && { value }), by, atMs: 0, reason },
        })),
        dryRun: isDryRun,
      };
      const { results } = await retryWhileUnavailable(() =>
        catalog.call((client) => client.setFields, request, CALL_MS),
      );
      for (const [index, { from, raw }] of batch.entries()) {
        const { outcome, reason } = results[index] ?? { outcome: FieldOutcome.UNSPECIFIED, reason: '' };
        if (outcome === FieldOutcome.CHANGED) report.changed++;
        else if (outcome === FieldOutcome.UNCHANGED) report.unchanged++;
        else if (outcome !== FieldOutcome.HELD_BACK)
          report.refusals.push({ from, reason: reason || UNKNOWN_OUTCOME, raw });
      }
      done += batch.length;
      onProgress?.(done, settings.length * 2);
    }
    return { ...report, dryRun: isDryRun };
  };
  const checked = await send(true);
  const refusals = [...unreadable, ...checked.refusals];
  if (dryRun || refusals.length > 0) return { ...checked, refusals };
  return send(false);
}

/** Batches in which all settings of a record are together, because the catalogue checks them together. */
function batchesOfRecords(settings: readonly Setting[]): Setting[][] {
  const batches: Setting[][] = [];
  let batch: Setting[] = [];
  for (const ofRecord of Map.groupBy(settings, ({ id }) => id).values()) {
    if (batch.length > 0 && batch.length + ofRecord.length > BATCH) {
      batches.push(batch);
      batch = [];
    }
    batch.push(...ofRecord);
  }
  return batch.length === 0 ? batches : [...batches, batch];
}
