import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ImportJournal } from '@brand-data/importers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { expect, test } from 'vitest';
import { reportText } from '../src/commands/imports/import-report.ts';
import { Output } from '../src/terminal/output.ts';

const NO_MARKET = (column: string) => `${column}: the row has no market`;

async function journalIn(): Promise<{ journal: ImportJournal; folder: string }> {
  const folder = await temporaryFolder();
  const [rejectsPath, conflictsPath] = [join(folder, 'rejects.ndjson'), join(folder, 'conflicts.ndjson')];
  return { folder, journal: new ImportJournal({ rejectsPath, conflictsPath, shown: (path) => path }) };
}

function textOf(journal: ImportJournal): string {
  const summary = { ...journal.counts, source: 'list', importId: 'one', dryRun: false, stopped: false };
  const written: string[] = [];
  const stream = { write: (text: string) => written.push(text) };
  const report = { summary, journal, seconds: 1, figures: {} };
  new Output({ stdout: stream, stderr: stream }, () => false).answer({}, () => reportText(report));
  return written.join('');
}

test('a report shows each kind of mistake once, the most frequent first, with the number of further cases', async () => {
  const { journal, folder } = await journalIn();
  await journal.refuse({ from: 'list.csv:2', reason: 'name is missing' });
  for (let row = 3; row < 700; row++)
    await journal.refuse({
      from: `list.csv:${row}`,
      reason: `Venue: "X${row}" is not a venue, as in row ${row}`,
    });
  await journal.close(false);
  expect(textOf(journal)).toContain(
    [
      'Refused',
      '  list.csv:3: Venue: "X3" is not a venue, as in row 3 (and 696 more of this kind)',
      '  list.csv:2: name is missing',
    ].join('\n'),
  );
  expect(textOf(journal)).not.toContain('… and');
  const lines = (await readFile(join(folder, 'rejects.ndjson'), 'utf8')).trim().split('\n');
  expect(lines).toHaveLength(698);
});

test('a report shows why lines were skipped, with the number of further lines', async () => {
  const { journal } = await journalIn();
  for (const row of [2, 3, 4])
    await journal.skip({ from: `list.csv:${row}`, skipped: `--skip: Kind is "X${row}"` });
  await journal.close(false);
  expect(textOf(journal)).toContain('Skipped\n  list.csv:2: --skip: Kind is "X2" (and 2 more of this kind)');
});

test('a report shows ten kinds of mistakes, and counts the cases of all others', async () => {
  const { journal } = await journalIn();
  const columns = [...'abcdefghijklmno'].map((letter) => `column ${letter}`);
  for (const column of [...columns, ...columns])
    await journal.refuse({ from: 'list.csv:2', reason: NO_MARKET(column) });
  await journal.close(false);
  const text = textOf(journal);
  expect(text.match(/and 1 more of this kind/g)).toHaveLength(10);
  expect(text).toContain('  … and 10 more');
});

test('a refused link names the record of the other source, and a lost identifier the company that has it', async () => {
  const { journal } = await journalIn();
  const other = { otherId: 'xnas-amrn-2', otherName: 'Amarin' };
  await journal.addConflict({
    from: 'list.csv:2',
    id: 'xnas-amrn',
    identifier: 'XNAS:AMRN',
    lost: true,
    ...other,
  });
  await journal.refuseLink({
    from: 'list.csv:2',
    id: 'xnas-amrn',
    identifiers: ['XNAS:AMRN'],
    otherSource: 'sec',
    otherRecordId: 'xnas-amrn',
    reason: 'the names differ',
    ...other,
  });
  await journal.close(false);
  expect(textOf(journal)).toContain('XNAS:AMRN leads to xnas-amrn-2 (Amarin), not to the record xnas-amrn');
  expect(textOf(journal)).toContain(
    'xnas-amrn is not xnas-amrn of sec (Amarin), though both have XNAS:AMRN: the names differ',
  );
});
