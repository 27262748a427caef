import { SERVICES } from '@brand-data/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manifestsOf } from '../../deploy/chart/test/render.ts';
import type { Rule } from '../monitoring/promql.ts';
import { newToken, startCallers } from './callers.ts';
import {
  CHART,
  createNamespace,
  installQuickstart,
  type Namespace,
  RELEASE,
  setting,
  waitFor,
} from './cluster.ts';
import { type LocalPort, openLocalPort } from './local-port.ts';
import {
  anyPath,
  FAULTS,
  FRUGAL_ALLOWANCE,
  keepCalling,
  REPLICAS,
  type Site,
  STREAM_MAX_BYTES,
  scale,
} from './monitoring-faults.ts';
import { type ClusterPrometheus, type Labels, type RuleGroup, startClusterPrometheus } from './prometheus.ts';

/** Alerts that no fault of this test can cause. Only test/monitoring/alerts.system.test.ts shows, with promtool, that they fire. */
const BY_PROMTOOL_ALONE: Record<string, string> = {
  BrandDataAnswersNotBilled: 'usage would have to be lost that both paths have acknowledged',
  BrandDataImagesNotDrawn: 'no stored picture takes that much time or memory',
  BrandDataImagesNotSwept: 'three days would have to pass',
  BrandDataVolumeFilling:
    'a disk would have to be filled, on a cluster whose volumes have a size and tell it',
  BrandDataCertificateExpiring: 'cert-manager would have to have missed a renewal two weeks ago',
};
/** On a cluster that also has other work, these alerts may rightly fire for a moment. */
const OF_A_BUSY_MACHINE = /^BrandData(LatencyBudgetBurn|EventLoopLag)$/;
/** Panels that have data only after calls have failed. */
const EMPTY_WHEN_WELL = /errors by method$/i;
/**
 * `drainSeconds` and `minReadySeconds` only shorten the run. Network policies are off because no policy can admit callers that
 * come through the cluster's API. The chart's own tests check the policies.
 */
const SETTINGS = [
  'drainSeconds=3',
  'minReadySeconds=0',
  'networkPolicy.enabled=false',
  `metering.usageStreamMaxBytes=${STREAM_MAX_BYTES}`,
];
const PLENTY = 1_000_000;

interface Query {
  panel: string;
  expr: string;
}

describe('a Prometheus that finds the pods by their annotations', () => {
  let namespace: Namespace;
  let site: Site;
  let api: LocalPort;
  let groups: RuleGroup[];
  let queries: Query[];
  const answered = new Set<Query>();
  /** The faults in which a rule fired. */
  const firedIn = new Map<Rule, string>();

  beforeAll(async () => {
    namespace = await createNamespace('monitoring');
    api = await openLocalPort('proxy', '--port', '0');
    ({ groups, queries } = await renderMonitoring(namespace));
    await installQuickstart(namespace, { more: setting(...SETTINGS) });
    const tokens = {
      regular: await newToken(namespace, 'regular', PLENTY),
      frugal: await newToken(namespace, 'frugal', FRUGAL_ALLOWANCE),
      newcomers: [
        await newToken(namespace, 'newcomer-1', PLENTY),
        await newToken(namespace, 'newcomer-2', PLENTY),
      ],
    } as const;
    site = { namespace, api: `http://${api.address}/api/v1/namespaces/${namespace.name}`, tokens };
    await startCallers(namespace, 20);
  });

  afterAll(async () => {
    await api?.close();
    await namespace?.delete();
  });

  test('evaluates every rule, fires none while all is well, and has data for the panels', async () => {
    const prometheus = await start();
    const calls = keepCalling(site, () => anyPath(site));
    try {
      const empty = () => queries.filter((query) => !answered.has(query)).map(({ panel }) => panel);
      await expect
        .poll(() => ask(prometheus).then(() => empty().filter((panel) => !EMPTY_WHEN_WELL.test(panel))), {
          timeout: 60_000,
          interval: 2_000,
        })
        .toEqual([]);
      console.log(`${answered.size} of ${queries.length} queries have data while all is well`);
      expect(new Set(await prometheus.ruleHealth())).toEqual(new Set(['ok']));
      const firing = await prometheus.firing();
      expect(firing.filter(({ alertname = '' }) => !OF_A_BUSY_MACHINE.test(alertname))).toEqual([]);
    } finally {
      await calls.stop();
      await prometheus.stop();
    }
  });

  const faults = FAULTS.map((fault) => [fault.what, fault] as const);
  test.each(faults)('fires the expected alerts: %s', async (what, { path = anyPath, ...fault }) => {
    await scale(site, fault.replicas ?? {});
    await fault.begin?.(site);
    const prometheus = await start();
    const calls = keepCalling(site, () => path(site));
    try {
      const expected = fault.fires.flatMap(({ alert, ...more }) =>
        rulesOf(groups)
          .filter((rule) => rule.alert === alert)
          .map((rule) => ({ rule, labels: { alertname: alert, ...rule.labels, ...more } })),
      );
      await expect
        .poll(
          async () => {
            await fault.meanwhile?.(site);
            await ask(prometheus);
            const firing = await prometheus.firing();
            const isMissing = ({ labels }: { labels: Labels }) => !firing.some((each) => has(each, labels));
            return expected.filter(isMissing).map(({ labels }) => labels);
          },
          { timeout: 120_000, interval: 1_000 },
        )
        .toEqual([]);
      for (const { rule } of expected) firedIn.set(rule, what);
    } finally {
      await calls.stop();
      await prometheus.stop();
    }
    await fault.end?.(site);
    await scale(site, fault.replicas ? REPLICAS : {});
    await waitFor('all pods are ready', async () => {
      const pods = await Promise.all(SERVICES.map((service) => namespace.readyPods(service)));
      return pods.every(({ length }) => length === 2);
    });
  });

  test('has fired every alert and had data for every panel in one of them', () => {
    const rows = rulesOf(groups).map((rule) => ({
      alert: [rule.alert, rule.labels?.window].filter(Boolean).join(' '),
      'shown by': firedIn.get(rule) ?? `promtool alone: ${BY_PROMTOOL_ALONE[rule.alert ?? '']}`,
    }));
    console.table(rows);
    const panels = new Set(queries.map(({ panel }) => panel));
    console.log(`${panels.size} panels, ${answered.size} of their ${queries.length} queries had data`);
    const neverFired = rulesOf(groups).filter((rule) => !firedIn.has(rule));
    expect(neverFired.map(({ alert }) => alert)).toEqual(Object.keys(BY_PROMTOOL_ALONE));
    expect(queries.filter((query) => !answered.has(query))).toEqual([]);
  });

  /** Starts a Prometheus without any older data. The conditions of its rules have to hold for only 2 s instead of minutes. */
  function start(): Promise<ClusterPrometheus> {
    const atOnce = (rule: Rule) => (rule.for === undefined ? rule : { ...rule, for: '2s' });
    const hasty = groups.map(({ name, rules }) => ({ name, rules: rules.map(atOnce) }));
    return startClusterPrometheus(api.address, namespace.name, hasty);
  }

  /** Runs the queries that have had no data yet. */
  async function ask({ query }: ClusterPrometheus): Promise<void> {
    for (const each of queries) {
      if (answered.has(each)) continue;
      const expr = each.expr.replaceAll('$namespace', namespace.name).replaceAll('$__rate_interval', '1m');
      if ((await query(expr)).length > 0) answered.add(each);
    }
  }
});

/** Returns the rules and dashboards that the chart installs in a cluster with the Prometheus operator. */
async function renderMonitoring(namespace: Namespace): Promise<{ groups: RuleGroup[]; queries: Query[] }> {
  const values = setting('quickstart.enabled=true', 'metrics.rules=always', 'metrics.dashboards=always');
  const file = ['--show-only', 'templates/monitoring.yaml'];
  const manifests = manifestsOf(await namespace.helm('template', RELEASE, CHART, ...file, ...values));
  const groups = manifests.flatMap(({ spec }) => (spec?.groups ?? []) as RuleGroup[]);
  const dashboards = manifests.flatMap(({ data }) =>
    Object.values(data ?? {}).map((text) => JSON.parse(text) as Dashboard),
  );
  const queries = dashboards.flatMap(({ title, panels, templating }) => {
    const services = templating.list.find(({ name }) => name === 'service')?.query.split(',') ?? [''];
    return services.flatMap((service) =>
      panels.flatMap((panel) =>
        (panel.targets ?? []).map(({ expr }) => ({
          panel: `${title} ${service}: ${panel.title}`,
          expr: expr.replaceAll('$service', service),
        })),
      ),
    );
  });
  return { groups, queries };
}

interface Dashboard {
  title: string;
  /** Only the variable "service" has a list of values. */
  templating: { list: { name: string; query: string }[] };
  panels: { title: string; targets?: { expr: string }[] }[];
}

/** Returns the rules that are alerts. */
function rulesOf(groups: readonly RuleGroup[]): Rule[] {
  return groups.flatMap(({ rules }) => rules.filter(({ alert }) => alert !== undefined));
}

function has(labels: Labels, some: Labels): boolean {
  return Object.entries(some).every(([name, value]) => labels[name] === value);
}
