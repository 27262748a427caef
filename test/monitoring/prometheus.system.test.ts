import { createToken } from '@brand-data/contracts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dashboards } from '../../deploy/dashboards/dashboards.ts';
import { callerOf } from '../e2e/caller.ts';
import { fullStock } from '../e2e/fixtures.ts';
import { TestOperator } from '../e2e/operator.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { readRules } from './promql.ts';
import { type RunningPrometheus, scraping, startPrometheus } from './running-prometheus.ts';
import { prometheus } from './tools.ts';

/** Panels that have data only when calls fail, or after a sync or a backup. The tests of alerts ask for the same series. */
const MAY_BE_EMPTY = /errors by method|Failures by pod|Misses and stale|Overdue syncs|newest copy/i;

const PATIENTLY = { timeout: 30_000, interval: 250 };

interface Answer {
  status: string;
  error?: string;
  data?: { result: { value: [number, string] }[] };
}

describe.skipIf(prometheus === undefined)('a Prometheus that scrapes the services', () => {
  let stack: TestStack;
  let operator: TestOperator;
  let server: RunningPrometheus;

  beforeAll(async () => {
    stack = await startTestStack({ gateways: 2 });
    operator = new TestOperator(stack);
    await operator.putBrands([{ ...fullStock, sources: [{ name: 'A', date: '2026-01-02' }] }]);
    server = await startPrometheus(await temporaryFolder(), scraping(stack.opsUrls.values()));
    const { token } = await operator.newAccount(100_000);
    const logo = await operator.putLogo(
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h1v1H0z"/></svg>'),
    );
    // A rate needs values that grow between two scrapes.
    await vi.waitFor(async () => {
      await fetch(`${stack.images[0]?.url}/${logo}?size=64&format=png`);
      for (const gateway of stack.gateways) {
        const { brand, logo } = callerOf(gateway);
        const nobody = `nobody-${performance.now()}`;
        await Promise.all([brand('ZPHX', token), brand(nobody, token), logo('ZPHX', createToken())]);
      }
      const { data } = await query('min(count_over_time(up[1m]))');
      expect(Number(data?.result[0]?.value[1])).toBeGreaterThan(5);
    }, PATIENTLY);
  });

  afterAll(async () => {
    operator?.close();
    await server?.stop();
    await stack?.stop();
  });

  async function query(expr: string): Promise<Answer> {
    const body = new URLSearchParams({ query: expr });
    return (await (await fetch(`${server.url}/api/v1/query`, { method: 'POST', body })).json()) as Answer;
  }

  test.each(dashboards.map(({ name }) => name))("answers every query of the dashboard '%s'", async (name) => {
    const { rows = [], services = [''] } = dashboards.find((dashboard) => dashboard.name === name) ?? {};
    const panels = rows.flatMap((row) => row.panels);
    for (const { title, queries } of panels)
      for (const expr of services.flatMap((service) =>
        Object.values(queries).map((query) => query.replaceAll('$service', service)),
      )) {
        const asked = expr.replaceAll('$namespace', '.*').replaceAll('$__rate_interval', '1m');
        await expect
          .poll(async () => {
            const { error, data } = await query(asked);
            const isThere = MAY_BE_EMPTY.test(title) || (data?.result ?? []).length > 0;
            return [title, expr, error, isThere];
          })
          .toEqual([title, expr, undefined, true]);
      }
  });

  test('evaluates every alert, and none fires while all is well', async () => {
    const { data } = (await (await fetch(`${server.url}/api/v1/rules`)).json()) as {
      data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
    };
    const rules = data.groups.flatMap((group) => group.rules);
    expect(rules.length).toBe(readRules().length);
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    const firing = await query('ALERTS{alertstate="firing", alertname!="BrandDataServiceAbsent"}');
    expect(firing.data?.result).toEqual([]);
  });
});
