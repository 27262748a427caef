import { proposeMapping } from '@brand-data/importers';
import { UsageError } from '../../connection/usage-error.ts';

/** Returns the error for an import of a table without a mapping. It lists the columns and proposes a command line. */
export async function missingMapping(
  file: string,
  { source, shown }: { source: string; shown: string },
): Promise<UsageError> {
  const { columns, map, mic, date } = await proposeMapping(file);
  const lines = [
    '--map or --map-file is missing: it says which column gives which field',
    `${shown} has the columns ${columns.join(', ')}`,
  ];
  const isListed = map.some(({ field }) => field === 'listings.ticker');
  const hasVenue = map.some(({ field }) => field === 'listings.mic');
  const sets = isListed && !hasVenue ? [`listings.mic=${mic ?? 'XNYS'}`] : [];
  const hasPrice = map.some(({ field }) => field === 'stock.price');
  if (hasPrice && !map.some(({ field }) => field === 'stock.currency')) sets.push('stock.currency=USD');
  if (map.length > 0)
    lines.push(
      'Their names suggest this command. Check it before you run it:',
      '',
      [
        `  bds import csv ${quoted(shown)} --source ${source}`,
        ...map.map(({ column, field }) => `--map ${quoted(`${column}=${field}`)}`),
        ...sets.map((set) => `--set ${set}`),
        ...(date === undefined ? [] : [`--date ${date}`]),
      ].join(' \\\n    '),
      '',
    );
  if (sets.length > 0) lines.push(`No column gives what --set gives here. Replace it if it is wrong.`);
  const unknown = columns.filter((column) => !map.some((each) => each.column === column));
  if (unknown.length > 0) lines.push(`These columns give no field: ${unknown.join(', ')}`);
  lines.push('bds import csv --help lists the fields');
  return new UsageError(lines.join('\n'));
}

/** Quotes a text for a shell: in single quotes, if it has other characters than letters, digits and a few signs. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
