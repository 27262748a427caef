/** Grafana's model of a dashboard, as far as these dashboards use it. */

export interface Panel {
  title: string;
  /** What the panel shows, and which values are bad. */
  description: string;
  /** Grafana's name of a unit: "s", "bytes", "reqps", "percentunit", "short", "none". */
  unit: string;
  /** Each query, by its name in the legend, which is a template of the series' labels. */
  queries: Record<string, string>;
  /** Show one number instead of lines over time. */
  stat?: boolean;
}

export interface Dashboard {
  /** The file's name. It stays the same, because links contain it. */
  name: string;
  title: string;
  /** The values of `$service`, from which a person chooses one. Absent: the dashboard has no such variable. */
  services?: string[];
  rows: { title: string; panels: Panel[] }[];
}

const WIDTH = 24;
const COLUMNS = 3;
const HEIGHT = 8;
const STAT_COLUMNS = 6;
const STAT_HEIGHT = 4;
const DATASOURCE = { type: 'prometheus', uid: '$datasource' };

/** Returns the dashboard's JSON. Expressions use Grafana's variables `$namespace`, `$service` and `$__rate_interval`. */
export function dashboardJson({ name, title, services, rows }: Dashboard): string {
  const panels: object[] = [];
  let y = 0;
  for (const row of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
      panels: [],
    });
    y += 1;
    let x = 0;
    let rowHeight = 0;
    for (const panel of row.panels) {
      const w = WIDTH / (panel.stat ? STAT_COLUMNS : COLUMNS);
      const h = panel.stat ? STAT_HEIGHT : HEIGHT;
      if (x + w > WIDTH) {
        x = 0;
        y += rowHeight;
        rowHeight = 0;
      }
      panels.push(panelJson(panel, panels.length + 1, { x, y, w, h }));
      x += w;
      rowHeight = Math.max(rowHeight, h);
    }
    y += rowHeight;
  }
  const dashboard = {
    uid: `brand-data-${name}`,
    title,
    tags: ['brand-data'],
    schemaVersion: 39,
    version: 1,
    editable: false,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    links: [
      { type: 'dashboards', title: 'Brand Data', tags: ['brand-data'], asDropdown: true, keepTime: true },
    ],
    templating: { list: variables(services) },
    annotations: { list: [] },
    panels,
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

function variables(services: readonly string[] = []): object[] {
  return [
    { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' },
    {
      name: 'namespace',
      type: 'query',
      label: 'Namespace',
      datasource: DATASOURCE,
      query: { query: 'label_values(brand_data_build_info, namespace)', refId: 'namespace' },
      includeAll: true,
      allValue: '.*',
      current: { text: 'All', value: '$__all' },
      refresh: 2,
      sort: 1,
    },
    ...(services.length === 0 ? [] : [serviceVariable(services)]),
  ];
}

function serviceVariable(services: readonly string[]): object {
  const [first = ''] = services;
  const option = (value: string) => ({ text: value, value, selected: value === first });
  return {
    name: 'service',
    type: 'custom',
    label: 'Service',
    query: services.join(','),
    options: services.map(option),
    current: option(first),
    includeAll: false,
    multi: false,
  };
}

function panelJson({ title, description, unit, queries, stat }: Panel, id: number, gridPos: object): object {
  return {
    id,
    type: stat ? 'stat' : 'timeseries',
    title,
    description,
    gridPos,
    datasource: DATASOURCE,
    fieldConfig: { defaults: { unit, min: 0, custom: stat ? {} : { fillOpacity: 10 } }, overrides: [] },
    options: stat
      ? { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'value' }
      : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: Object.entries(queries).map(([legendFormat, expr], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATASOURCE,
      legendFormat,
      expr,
    })),
  };
}
