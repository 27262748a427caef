import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { main } from '@brand-data/operator';
import { readMetricsPage } from '@brand-data/test/monitoring/metrics-page.ts';
import { metricsOf, readRules } from '@brand-data/test/monitoring/promql.ts';
import { promtool, runPromtool } from '@brand-data/test/monitoring/tools.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { beforeEach, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { documentedValues } from '../values-readme.ts';
import { CHART, renderYaml, type Values, withValues } from './render.ts';
import { helms } from './tools.ts';

const page = await readFile(join(CHART, '../operations.md'), 'utf8');
const values = await readFile(join(CHART, 'values.yaml'), 'utf8');

const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
  language,
  text,
}));
const blocksOf = (wanted: string) =>
  blocks.filter(({ language }) => language === wanted).map(({ text }) => text);
/** Code spans in the prose. */
const spans = [...page.replaceAll(/^```.*?^```$/gms, '').matchAll(/`([^`\n]+)`/g)].map(
  ([, text = '']) => text,
);
/** All queries, one on each line of the blocks. */
const queries = blocksOf('promql').flatMap((text) => text.trim().split('\n'));

describe.for(helms)('values that the page shows, by helm $major', (helm) => {
  beforeEach(({ skip }) => skip(!helm.isThere));
  // The page also shows a Kubernetes object, which is not for Helm.
  const shown = blocksOf('yaml')
    .map((text): Values => parse(text))
    .filter((block) => !('kind' in block));
  const [tryOut, team, zones] = shown;

  test('are accepted: for a try-out, for one team, and for several zones on top of that', async () => {
    expect(shown).toHaveLength(3);
    for (const own of [tryOut, team]) expect(await renderYaml(helm, own ?? {})).toContain('kind: Deployment');
    // Values in the last file override earlier ones.
    const both = await withValues(zones ?? {}, (file) =>
      renderYaml(helm, team ?? {}, { more: ['--values', file] }),
    );
    expect(both).toContain('kind: HorizontalPodAutoscaler');
    expect(both.match(/USAGE_STREAMS: "?4/g)).toHaveLength(2);
    expect(both.match(/key: "?CATALOG_MONGODB_URL/g)).not.toBeNull();
  });
});

test('every value that the page names is one of the chart', () => {
  const groups = Object.keys(parse(values));
  const known = documentedValues(values).map(({ path }) => path.join('.'));
  const isKnown = (name: string) => known.some((each) => `${each}.`.startsWith(`${name}.`));
  const named = spans
    .map((span) => /^[A-Za-z]+(\.[A-Za-z]+)+/.exec(span)?.[0] ?? '')
    .filter((name) => groups.includes(name.split('.')[0] ?? ''));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !isKnown(name))).toEqual([]);
});

test('every metric that the page names is on the page of metrics', () => {
  const known = readMetricsPage().own.map(({ name }) => name);
  const databases = Object.values(parse(values).mongodb.databases as Record<string, string>);
  const inSpans = spans.flatMap(
    (span) => /^(gateway|metering|grpc|nats|mongodb|process|nodejs|brand_data)_\w+/.exec(span)?.[0] ?? [],
  );
  const named = [...inSpans, ...queries.flatMap(metricsOf)].filter((name) => !databases.includes(name));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});

test('every alert that the page names is one that the chart installs', () => {
  const known = readRules().map(({ alert }) => alert);
  const named = [...page.matchAll(/BrandData[A-Z][A-Za-z]+/g)].map(([name]) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});

test('every command of bds that the page names exists', async () => {
  const commandsOf = async (...above: string[]): Promise<string[]> => {
    let help = '';
    const stdout = { write: (text: string) => (help += text) };
    await main([...above, '--help'], { env: {}, cwd: CHART, stdout, stderr: stdout });
    const commands = help.split('Commands:')[1] ?? '';
    return [...commands.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name);
  };
  const all = await commandsOf();
  const named = spans.flatMap((span) => {
    const [, command, inner] = /^bds ([a-z]+)(?: ([a-z-]+))?/.exec(span) ?? [];
    return command === undefined ? [] : [{ command, inner }];
  });
  expect(named.length).toBeGreaterThan(5);
  for (const { command, inner } of named) {
    expect(all).toContain(command);
    const below = await commandsOf(command);
    if (inner !== undefined && below.length > 0) expect(below).toContain(inner);
  }
});

test.skipIf(promtool === undefined)('Prometheus can parse every query that the page shows', async () => {
  const inSpans = spans.filter((span) => /^(sum|max)\b/.test(span));
  const rules = [...queries, ...inSpans].map((expr, index) => ({ record: `page:query:${index}`, expr }));
  const file = join(await temporaryFolder(), 'rules.yaml');
  await writeFile(file, stringify({ groups: [{ name: 'page', rules }] }));
  const { isGood, output } = runPromtool(['check', 'rules', file]);
  expect(isGood, output).toBe(true);
});
