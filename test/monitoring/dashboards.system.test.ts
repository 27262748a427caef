import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dashboards } from '../../deploy/dashboards/dashboards.ts';
import { dashboardJson } from '../../deploy/dashboards/grafana.ts';
import { readMetricsPage } from './metrics-page.ts';
import { metricsOf, readRules } from './promql.ts';

const FOLDER = join(import.meta.dirname, '../../deploy/chart/files/dashboards');
const panels = dashboards.flatMap(({ title, rows }) =>
  rows.flatMap((row) => row.panels.map((panel) => ({ ...panel, title: `${title}: ${panel.title}` }))),
);

test('the dashboards in the chart are those that node deploy/dashboards/main.ts writes', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(dashboards.map(({ name }) => `${name}.json`).sort());
  for (const dashboard of dashboards)
    expect(readFileSync(join(FOLDER, `${dashboard.name}.json`), 'utf8')).toBe(dashboardJson(dashboard));
});

test('panels read only metrics that exist, and have a description', () => {
  const recorded = readRules().flatMap(({ record }) => record ?? []);
  const known = new Set([...readMetricsPage().own.map(({ name }) => name), ...recorded]);
  for (const { title, description, queries } of panels) {
    expect([title, description]).toEqual([title, expect.stringMatching(/\w.*\.$/)]);
    const read = Object.values(queries).flatMap(metricsOf);
    expect([title, read.length > 0]).toEqual([title, true]);
    expect([title, read.filter((name) => !known.has(name))]).toEqual([title, []]);
  }
});

test("every metric of the product's own is in a dashboard", () => {
  const shown = new Set(panels.flatMap(({ queries }) => Object.values(queries).flatMap(metricsOf)));
  const own = readMetricsPage().own.map(({ name }) => name);
  expect(own.filter((name) => !/^(process|nodejs|grpc_client)_/.test(name) && !shown.has(name))).toEqual([]);
});
