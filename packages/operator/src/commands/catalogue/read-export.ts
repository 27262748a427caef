import type { ExportedCompany } from '@brand-data/contracts';
import { type BytesRead, OptionError, readJsonLines } from '@brand-data/importers';
import { type NewestImports, readExportLine } from '@brand-data/records';

/** The most companies that the catalogue takes at once. */
const BATCH_COMPANIES = 500;
/** Far below the 16 MiB of one message. A larger company is sent alone. */
const BATCH_CHARACTERS = 4 * 1024 * 1024;

/** Companies of an export in their order, with the place of each in the file. */
export interface ExportBatch {
  companies: { from: string; company: ExportedCompany }[];
  newestImports: NewestImports;
  /** Whether no company of the export comes after these. */
  isLast: boolean;
}

/** A line that is not a company of the catalogue. */
export interface UnreadableLine {
  from: string;
  reason: string;
}

/**
 * Yields the companies of a file that `bds catalogue export` has written, in batches that are small enough for the catalogue.
 * Throws an OptionError if the file is not an export of this command, or is not complete.
 */
export async function* readExport(
  file: string,
  { progress, onUnreadable }: { progress: BytesRead; onUnreadable: (line: UnreadableLine) => void },
): AsyncGenerator<ExportBatch> {
  let newestImports: NewestImports | undefined;
  let batch: ExportBatch['companies'] = [];
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
