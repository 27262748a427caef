import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Dashboard, Panel } from './grafana.ts';

/** A panel as dashboards.yaml has it: with `query` or with `queries`. */
type WrittenPanel = Omit<Panel, 'queries'> & { query?: string; queries?: Record<string, string> };

interface WrittenDashboard extends Omit<Dashboard, 'rows'> {
  /** The value of `$service` in the queries. */
  service?: string;
  /** The panels of each row by its title. A shared list of panels is one item. */
  rows: Record<string, (WrittenPanel | WrittenPanel[])[]>;
}

const written: { dashboards: WrittenDashboard[] } = parse(
  readFileSync(join(import.meta.dirname, 'dashboards.yaml'), 'utf8'),
);

export const dashboards: Dashboard[] = written.dashboards.map(({ service = '$service', rows, ...rest }) => ({
  ...rest,
  rows: Object.entries(rows).map(([title, panels]) => ({
    title,
    panels: panels.flat().map((panel) => panelOf(panel, service)),
  })),
}));

function panelOf(
  { query = '', queries = { [legendOf(query)]: query }, ...panel }: WrittenPanel,
  service: string,
): Panel {
  const ofService = Object.entries(queries).map(([legend, expr]) => [
    legend,
    expr.replaceAll('$service', service),
  ]);
  return { ...panel, queries: Object.fromEntries(ofService) };
}

/** Returns Grafana's template of the labels that the query groups by: "{{stream}} {{state}}". */
function legendOf(query: string): string {
  const [, labels = ''] = /\bby \(([^)]*)\)/.exec(query) ?? [];
  return labels
    .split(', ')
    .filter((label) => label !== 'le')
    .map((label) => `{{${label}}}`)
    .join(' ');
}
