/** Writes the dashboards that the chart installs: `node deploy/dashboards/main.ts`. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboards } from './dashboards.ts';
import { dashboardJson } from './grafana.ts';

const FOLDER = join(import.meta.dirname, '../chart/files/dashboards');

mkdirSync(FOLDER, { recursive: true });
for (const dashboard of dashboards)
  writeFileSync(join(FOLDER, `${dashboard.name}.json`), dashboardJson(dashboard));
