import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGE = join(import.meta.dirname, '../../deploy/metrics.md');

/** A metric as the page lists it. */
export interface ListedMetric {
  name: string;
  type: string;
  labels: string[];
}

/** Reads deploy/metrics.md. */
export function readMetricsPage(): { own: ListedMetric[]; ofOthers: string[] } {
  const [own = '', others = ''] = readFileSync(PAGE, 'utf8').split('## Of others');
  return {
    own: rowsOf(own).map(([name = '', type = '', labels = '']) => ({
      name,
      type,
      labels: labels === '' ? [] : labels.split(', '),
    })),
    ofOthers: rowsOf(others).map(([name = '']) => name),
  };
}

/** Returns the cells of rows whose first cell is code, without the backquotes. */
function rowsOf(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}
