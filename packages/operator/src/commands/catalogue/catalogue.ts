import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { firstLineOf, lastLineOf, lineOfCompany, type NewestImports } from '@brand-data/records';
import { Command } from '@commander-js/extra-typings';
import type { Connection } from '../../connection/connection.ts';
import { type Context, commandGroup } from '../../terminal/context.ts';
import { printable } from '../../text/printable.ts';
import { figure } from '../../text/reports.ts';
import { catalogueListCommand, STATISTICS_MS } from './catalogue-list.ts';
import { catalogueRestoreCommand } from './catalogue-restore.ts';
import { catalogueStatsCommand } from './catalogue-stats.ts';

export function catalogueCommand(context: Context) {
  const description = 'List, count, export and restore the records of the catalogue';
  const commands = [catalogueListCommand, catalogueStatsCommand, exportCommand, catalogueRestoreCommand];
  return commandGroup(context, 'catalogue', description, commands);
}

function exportCommand({ catalog, output, pathOf, shown }: Context) {
  return new Command('export')
    .description('Write all source records and overrides as NDJSON, one company a line, in a stable order')
    .option('--out <file>', 'write to this file, which appears when it is whole (default: standard output)')
    .action(async ({ out }) => {
      let companies = 0;
      const lines = exportLines(catalog(), (count) => {
        companies = count;
        output.progress(() => `${figure(count)} companies exported`);
      });
      if (out === undefined) for await (const text of lines) await output.stream(text);
      else await writeWhole(pathOf(out), lines);
      output.progress();
      if (out === undefined) return;
      const file = shown(pathOf(out));
      output.answer({ file, companies }, () => `${figure(companies)} companies are in ${file}.`);
    });
}

async function* exportLines(
  catalog: ReturnType<Connection['catalog']>,
  onProgress: (companies: number) => void,
): AsyncGenerator<string> {
  const { sources } = await catalog.call((client) => client.getStatistics, {}, STATISTICS_MS);
  const newest: NewestImports = new Map(
    sources.flatMap(({ source, newestImport }) => (newestImport === '' ? [] : [[source, newestImport]])),
  );
  yield lineOf(firstLineOf(newest));
  let count = 0;
  for await (const { companies } of catalog.readStream((client) => client.exportCompanies, { after: '' })) {
    yield companies.map((company) => lineOf(lineOfCompany(company, newest))).join('');
    count += companies.length;
    onProgress(count);
  }
  yield lineOf(lastLineOf(count));
}

function lineOf(value: object): string {
  return `${printable(JSON.stringify(value))}\n`;
}

/** The file gets its name at the end, so that a partial export is never mistaken for a complete one. */
async function writeWhole(path: string, lines: AsyncIterable<string>): Promise<void> {
  const part = `${path}.part`;
  try {
    await pipeline(Readable.from(lines), createWriteStream(part));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    // Not the file is missing but its folder.
    throw (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? Object.assign(error as Error, { path: dirname(path) })
      : error;
  }
}
