import { randomBytes } from 'node:crypto';
import type { ExportedCompany } from '@brand-data/contracts';
import {
  type BytesRead,
  OptionError,
  readJsonLines,
  retryWhileUnavailable,
  sizeOf,
} from '@brand-data/importers';
import { type NewestImports, readExportLine } from '@brand-data/records';
import { Command } from '@commander-js/extra-typings';
import type { Connection } from '../../connection/connection.ts';
import { PartlyFailed } from '../../connection/failures.ts';
import type { Context } from '../../terminal/context.ts';
import { dryRunTitle, figure, progressLine, refusedLines } from '../../text/reports.ts';
import { facts } from '../../text/tables.ts';

const CALL_MS = 30_000;
const MOST_SHOWN = 10;
/** The most companies that the catalogue takes at once. */
const BATCH_COMPANIES = 500;
/** Far below the 16 MiB of one message. A larger company is sent alone. */
const BATCH_CHARACTERS = 4 * 1024 * 1024;

interface Pass {
  restored: number;
  unchanged: number;
  refused: number;
  firstRefusals: UnreadableLine[];
}

export function catalogueRestoreCommand({ catalog, output, pathOf, shown }: Context) {
  return new Command('restore')
    .description(
      'Make an empty catalogue equal to an export; if a restore breaks off, run it again. Run no import meanwhile',
    )
    .argument('<file>', 'a file that bds catalogue export has written; it may be compressed')
    .option('--dry-run', 'write nothing, and report what would be restored')
    .action(async (file, { dryRun = false }) => {
      const path = pathOf(file);
      const bytes: BytesRead = { read: 0, total: (await sizeOf([path])) * (dryRun ? 1 : 2) };
      const startedAt = performance.now();
      const onProgress = (read: number) =>
        output.progress(() => progressLine({ read }, bytes, (performance.now() - startedAt) / 1_000));
      const checked = await send(catalog(), path, { dryRun: true, bytes, onProgress });
      const isDry = dryRun || checked.refused > 0;
      const pass = isDry ? checked : await send(catalog(), path, { dryRun: false, bytes, onProgress });
      output.progress();
      const { restored, unchanged, refused } = pass;
      const refusals = pass.firstRefusals.map(({ from, reason }) => ({ from: shown(from), reason }));
      const document = { dry_run: isDry, restored, unchanged, refused, first_refusals: refusals };
      output.answer(document, () => [
        dryRunTitle(isDry),
        facts([
          ['Restored', figure(restored)],
          ['Unchanged', figure(unchanged)],
          ['Refused', figure(refused)],
        ]),
        refusedLines(refusals, refused),
      ]);
      if (refused > 0)
        throw new PartlyFailed(
          `${figure(refused)} companies were refused, so nothing was restored: correct their lines, or remove them and lower the count in the last line`,
        );
    });
}

/** Sends the whole file. A dry run also finds out whether the catalogue has anything that is not in the file. */
async function send(
  catalog: ReturnType<Connection['catalog']>,
  path: string,
  { dryRun, bytes, onProgress }: { dryRun: boolean; bytes: BytesRead; onProgress: (read: number) => void },
): Promise<Pass> {
  const pass: Pass = { restored: 0, unchanged: 0, refused: 0, firstRefusals: [] };
  const refuse = (line: UnreadableLine) => {
    pass.refused++;
    if (pass.firstRefusals.length < MOST_SHOWN) pass.firstRefusals.push(line);
  };
  const restoreId = `${new Date().toISOString()}-${randomBytes(4).toString('hex')}`;
  const already = bytes.read;
  const progress: BytesRead = { read: 0, total: 0 };
  const batches = readExport(path, { progress, onUnreadable: refuse });
  let after = '';
  let read = 0;
  for await (const { companies, newestImports, isLast } of batches) {
    const request = {
      companies: companies.map(({ company }) => company),
      newestImports: Object.fromEntries(newestImports),
      after,
      isLast,
      restoreId,
      dryRun,
    };
    const answer = await retryWhileUnavailable(() =>
      catalog.call((client) => client.restoreCompanies, request, CALL_MS),
    );
    pass.restored += answer.restored;
    pass.unchanged += answer.unchanged;
    for (const { index, reason } of answer.refused) refuse({ from: companies[index]?.from ?? path, reason });
    after = companies.at(-1)?.company.id ?? after;
    read += companies.length;
    bytes.read = already + progress.read;
    onProgress(read);
  }
  return pass;
}

/** A line that is not a company of the catalogue. */
interface UnreadableLine {
  from: string;
  reason: string;
}

/**
 * Yields the companies of a file that `bds catalogue export` has written, in their order, each with its place in the file, and in
 * batches that are small enough for the catalogue. Throws an OptionError if the file is not an export of this command, or is not complete.
 */
async function* readExport(
  file: string,
  { progress, onUnreadable }: { progress: BytesRead; onUnreadable: (line: UnreadableLine) => void },
) {
  let newestImports: NewestImports | undefined;
  let batch: { from: string; company: ExportedCompany }[] = [];
  let characters = 0;
  let read = 0;
  let expected: number | undefined;
  for await (const line of readJsonLines(file, progress)) {
    if (expected !== undefined)
      throw new OptionError(`${line.from}: there are lines after the end of the export`);
    const found =
      'problem' in line
        ? { problems: [line.problem] }
        : readExportLine(line.value, newestImports ?? new Map());
    if (newestImports === undefined) {
      if (!('imports' in found))
        throw new OptionError(`${file} is no export of a catalogue: bds catalogue export writes one`);
      newestImports = found.imports;
    } else if ('companies' in found) expected = found.companies;
    else if ('company' in found) {
      read++;
      const size = line.raw?.length ?? 0;
      if (batch.length === BATCH_COMPANIES || (batch.length > 0 && characters + size > BATCH_CHARACTERS)) {
        yield { companies: batch, newestImports, isLast: false };
        batch = [];
        characters = 0;
      }
      batch.push({ from: line.from, company: found.company });
      characters += size;
    } else {
      read++;
      onUnreadable({
        from: line.from,
        reason: 'problems' in found ? found.problems.join('; ') : 'a second first line',
      });
    }
  }
  if (newestImports === undefined || expected !== read)
    throw new OptionError(`${file} is not a whole export: its last line is missing, or does not fit`);
  yield { companies: batch, newestImports, isLast: true };
}
