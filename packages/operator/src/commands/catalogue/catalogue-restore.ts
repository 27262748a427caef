import { randomBytes } from 'node:crypto';
import { type BytesRead, retryWhileUnavailable, sizeOf } from '@brand-data/importers';
import { Command } from 'commander';
import type { Connection } from '../../connection/connection.ts';
import type { Context } from '../../terminal/context.ts';
import { PartlyFailed } from '../../terminal/failures.ts';
import { figure, progressLine } from '../../text/progress.ts';
import { facts } from '../../text/tables.ts';
import { titled } from '../imports/import-report.ts';
import { dryRunTitle } from './decision.ts';
import { readExport, type UnreadableLine } from './read-export.ts';

const CALL_MS = 30_000;
const MOST_SHOWN = 10;

interface Pass {
  restored: number;
  unchanged: number;
  refused: number;
  firstRefusals: UnreadableLine[];
}

export function catalogueRestoreCommand({ catalog, output, pathOf, shown }: Context): Command {
  return new Command('restore')
    .description(
      'Make an empty catalogue equal to an export; if a restore breaks off, run it again. Run no import meanwhile',
    )
    .argument('<file>', 'a file that bds catalogue export has written; it may be compressed')
    .option('--dry-run', 'write nothing, and report what would be restored')
    .action(async (file: string, { dryRun = false }: { dryRun?: boolean }) => {
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
      output.answer(document, () =>
        [
          ...dryRunTitle(isDry),
          facts([
            ['Restored', figure(restored)],
            ['Unchanged', figure(unchanged)],
            ['Refused', figure(refused)],
          ]),
          ...titled(
            'Refused',
            refusals.map(({ from, reason }) => `  ${from}: ${reason}`),
            refused,
          ),
        ].join('\n'),
      );
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
