/**
 * `npm run screenshots:dashboards` makes the pictures of the dashboards anew, in deploy/dashboards/screenshots. It runs the services,
 * a Prometheus and some minutes of traffic, asks each panel's queries as Grafana would, and draws what Prometheus answers. Prometheus
 * and Chromium have to be installed.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createToken } from '@brand-data/contracts';
import { SIZES } from '@brand-data/images/src/image/image.ts';
import { dashboards } from '../../deploy/dashboards/dashboards.ts';
import type { Panel } from '../../deploy/dashboards/grafana.ts';
import { callerOf } from '../e2e/caller.ts';
import { fullStock } from '../e2e/fixtures.ts';
import { TestOperator } from '../e2e/operator.ts';
import { startBrowser } from '../e2e/page.ts';
import { startFaultStack } from '../faults/stack.ts';
import { scraping, startPrometheus } from '../monitoring/running-prometheus.ts';
import { type DrawnPanel, dashboardPage, type Period, type Series } from './dashboard-page.ts';

const PICTURES = join(import.meta.dirname, '../../deploy/dashboards/screenshots');
const TRAFFIC_MS = 150_000;
const STEP_S = 2;
const RATE_INTERVAL = '15s';
const LOGO = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h1v1H0z"/></svg>',
);

interface Answer {
  result: { metric: Record<string, string>; values: [number, string][] }[];
}

const folder = await mkdtemp(join(tmpdir(), 'brand-data-dashboards-'));
await using open = new AsyncDisposableStack();
open.defer(() => rm(folder, { recursive: true, force: true }));
const stack = await startFaultStack({ gateways: 2, meterings: 2 });
open.defer(() => stack.stop());
const operator = new TestOperator(stack);
open.defer(() => operator.close());
const prometheus = await startPrometheus(folder, scraping(stack.opsUrls.values()));
open.defer(() => prometheus.stop());
const browser = await startBrowser(folder);
open.defer(() => browser.stop());

const period = await makeTraffic();
const page = await browser.newPage();
await mkdir(PICTURES, { recursive: true });
for (const { name, title, rows, services: [service = ''] = [] } of dashboards) {
  const drawn = await Promise.all(
    rows.map(async (row) => ({
      title: row.title,
      panels: await Promise.all(row.panels.map((panel) => draw(panel, service, period))),
    })),
  );
  const file = join(folder, `${name}.html`);
  await writeFile(file, dashboardPage(service === '' ? title : `${title}: ${service}`, drawn, period));
  await page.open(`file://${file}`);
  const height = await page.evaluate<number>('document.body.offsetHeight + 40');
  await page.show({ theme: 'light', width: 1_280, height });
  await writeFile(join(PICTURES, `${name}.webp`), await page.screenshot());
}

/** Hits, misses, refusals, an account that reaches its limit, logos, and changes of the catalogue, more of all in the middle. */
async function makeTraffic(): Promise<Period> {
  await operator.putBrands([fullStock]);
  const { token } = await operator.newAccount(1_000_000);
  const small = await operator.newAccount(400);
  const logo = await operator.putLogo(LOGO);
  const beganMs = Date.now();
  for (let turn = 0; Date.now() - beganMs < TRAFFIC_MS; turn += 1) {
    const share = (Date.now() - beganMs) / TRAFFIC_MS;
    const calls = stack.gateways
      .map(callerOf)
      .flatMap(({ brand, logo: info }) => [
        brand('ZPHX', token),
        brand('ZPHX', token),
        info('ZPHX', token),
        brand('ZPHX', small.token),
        ...(turn % 4 === 0 ? [brand(`nobody-${turn}`, token), info('ZPHX', createToken())] : []),
      ]);
    await Promise.all(calls.map(async (call) => (await call).body?.cancel()));
    const picture = await fetch(
      `${stack.images[0]?.url}/${logo}?size=${SIZES[turn % SIZES.length]}&format=png`,
    );
    await picture.body?.cancel();
    if (turn % 20 === 0) await operator.putBrands([fullStock]);
    await delay(160 - 120 * Math.sin(Math.PI * share));
  }
  return { from: Math.round(beganMs / 1_000) + 5, to: Math.round(Date.now() / 1_000) };
}

async function draw(panel: Panel, service: string, { from, to }: Period): Promise<DrawnPanel> {
  const series: Series[] = [];
  for (const [legend, query] of Object.entries(panel.queries)) {
    const asked = query
      .replaceAll('$service', service)
      .replaceAll('$namespace', '.*')
      .replaceAll('$__rate_interval', RATE_INTERVAL);
    const range = { query: asked, start: `${from}`, end: `${to}`, step: `${STEP_S}` };
    const { result } = await prometheus.ask<Answer>('query_range', range);
    for (const { metric, values } of result)
      series.push({
        name: legend.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? ''),
        points: values
          .map(([at, value]) => ({ at, value: Number(value) }))
          .filter(({ value }) => Number.isFinite(value)),
      });
  }
  return { ...panel, series };
}
