import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { readMetricsPage } from './metrics-page.ts';
import { metricsOf, readRules, ruleFiles } from './promql.ts';
import { promtool, runPromtool } from './tools.ts';

const RUNBOOK = join(import.meta.dirname, '../../deploy/runbook.md');
const alerts = readRules().filter((rule) => rule.alert !== undefined);
const names = [...new Set(alerts.map(({ alert }) => alert ?? ''))];

test('alerts read only metrics that exist', () => {
  const { own, ofOthers } = readMetricsPage();
  const rules = readRules();
  const known = new Set([...own.map(({ name }) => name), ...ofOthers, ...rules.map(({ record }) => record)]);
  for (const { alert, record, expr } of rules)
    expect([alert ?? record, metricsOf(expr).filter((name) => !known.has(name))]).toEqual([
      alert ?? record,
      [],
    ]);
  const read = new Set(rules.flatMap(({ expr }) => metricsOf(expr)));
  expect(ofOthers.filter((name) => !read.has(name))).toEqual([]);
});

test('every alert has a severity, a description and a section in the runbook, and the runbook has no other section', () => {
  for (const { alert, labels, annotations } of alerts) {
    expect([alert, labels?.severity]).toEqual([alert, expect.stringMatching(/^(critical|warning)$/)]);
    expect(annotations).toEqual({
      summary: expect.any(String),
      description: expect.any(String),
      runbook: expect.stringMatching(/^deploy\/runbook\.md#/),
    });
  }
  const linked = new Set(alerts.map(({ annotations }) => annotations?.runbook?.split('#')[1]));
  const runbook = readFileSync(RUNBOOK, 'utf8').split('## Alerts')[1] ?? '';
  const sections = [...runbook.matchAll(/^### (.*)$/gm)].map(([, title = '']) => title);
  expect(sections.map((title) => title.toLowerCase()).sort()).toEqual([...linked].sort());
  for (const name of names) expect(runbook).toContain(name);
});

/** A situation, as series in promtool's notation with one value a minute, or after each `step`. */
interface Scenario {
  series: Record<string, string>;
  /** The time between two values and between two evaluations, in a situation that takes days. */
  step?: string;
  /** The time since its beginning at which the alerts are checked. */
  at: string;
  /** All alerts that fire at that time, with their severity. */
  firing: string[];
}

const of = (service: string, more = '') =>
  `{service="${service}",namespace="prod",instance="${service}-1"${more}}`;
const builds = (...services: string[]) =>
  Object.fromEntries(
    services.map((service) => [`brand_data_build_info${of(service, ',version="1"')}`, '1x600']),
  );
const dueAt = (values: string, instance = 'catalog-1') => ({
  [`catalog_import_due_timestamp_seconds{service="catalog",namespace="prod",instance="${instance}",source="wikidata"}`]:
    values,
});
const lastImport = (outcome: string) =>
  counter('catalog_import_outcome', 'catalog', `,source="wikidata",outcome="${outcome}"`, '1x400');
const priceAge = (source: string, values: string) =>
  counter('catalog_price_age_trading_sessions', 'catalog', `,source="${source}"`, values);
/** A copy in the future, so that it is young whatever a situation's time. */
const backups = (values: string) =>
  counter('accounts_newest_backup_timestamp_seconds', 'accounts', '', values);
const ALL = ['gateway', 'accounts', 'catalog', 'metering', 'images'];

/**
 * Returns the series of answers with this status. `perMinute` has the answers of each minute in promtool's notation, such as
 * "12x600".
 */
const answers = (status: number, perMinute: string) => ({
  [`gateway_http_requests_total${of('gateway', `,route="brands",status="${status}"`)}`]: `0+${perMinute}`,
});
const latency = (within: string, all: string) => {
  const labels = ',route="brands",status="200"';
  return {
    [`gateway_http_request_duration_seconds_bucket${of('gateway', `${labels},le="0.1"`)}`]: `0+${within}`,
    [`gateway_http_request_duration_seconds_count${of('gateway', labels)}`]: `0+${all}`,
  };
};
const counter = (name: string, service: string, labels: string, increase: string) => ({
  [`${name}${of(service, labels)}`]: increase,
});

/** A caller's first refused call begins its series. */
const refusedCaller = (values: string) => ({
  series: counter(
    'grpc_server_refused_callers_total',
    'accounts',
    ',grpc_service="brand_data.v1.AccountsAdminService",grpc_method="SetPlan",caller="gateway"',
    values,
  ),
  firing: ['BrandDataCallerRefused critical'],
});

/** Answers to requests for images, like `answers`. */
const imageAnswers = (status: number, perMinute: string) =>
  counter('images_http_requests_total', 'images', `,kind="logo",status="${status}"`, `0+${perMinute}`);
const sweeps = (values: string) => counter('images_sweeps_total', 'images', ',result="done"', values);
const sweepsOfNewPods = Object.fromEntries(
  [0, 1, 2, 3].map((day) => [
    `images_sweeps_total{service="images",namespace="prod",instance="images-${day}",result="done"}`,
    `${day === 0 ? '' : `_x${day * 48} `}0x24 1x24`,
  ]),
);

const dropped = (reason: string) =>
  counter('metering_usage_dropped_calls_total', 'metering', `,reason="${reason}"`, '0x5 40x30');
const startedLongAgo = (service: string) => counter('process_start_time_seconds', service, '', '-9000x60');

const SCENARIOS: Record<string, Scenario> = {
  'a steady load without failures fires nothing': {
    series: {
      ...counter('gateway_charged_calls_total', 'gateway', ',certainty="answered"', '0+6000x600'),
      ...counter('metering_billed_calls_total', 'metering', '', '0+6000x600'),
      ...counter('metering_usage_dropped_calls_total', 'metering', ',reason="closed_grant"', '0x600'),
      ...answers(200, '6000x600'),
      ...answers(503, '0x600'),
      ...latency('5990x600', '6000x600'),
      ...counter('nats_connected', 'gateway', '', '1x600'),
      ...counter('mongodb_connected', 'metering', '', '1x600'),
      ...counter('metering_usage_messages_total', 'metering', ',result="applied"', '0+100x600'),
      ...counter(
        'metering_usage_consumer_lag_messages',
        'metering',
        ',stream="BRAND_DATA_USAGE",state="pending"',
        '7x600',
      ),
      ...counter('metering_usage_stream_fill_ratio', 'metering', ',stream="BRAND_DATA_USAGE"', '0.2x600'),
      ...counter('metering_dead_letter_messages', 'metering', '', '0x600'),
      ...counter('metering_notices_waiting', 'metering', ',state="pending"', '3x600'),
      ...counter('metering_notices_waiting', 'metering', ',state="failed"', '0x600'),
      ...counter('metering_settled_grants_total', 'metering', '', '0x600'),
      ...counter('gateway_usage_commit_failed_calls_total', 'gateway', '', '0x600'),
      ...counter('nodejs_eventloop_lag_p99_seconds', 'gateway', '', '0.03x600'),
      ...counter('process_start_time_seconds', 'gateway', '', '1000x600'),
      ...imageAnswers(200, '600x600'),
      ...imageAnswers(503, '0x600'),
      ...counter('images_work_failures_total', 'images', ',work="render",reason="killed"', '0x600'),
      ...sweeps('0x100 1x500'),
      ...counter('grpc_operator_refusals_total', 'accounts', ',reason="unknown"', '3x600'),
      ...counter('gateway_unreadable_messages_total', 'gateway', ',kind="recalls"', '0x600'),
    },
    at: '8h',
    firing: [],
  },
  'an outage pages within minutes': {
    series: { ...answers(200, '6000x60 0x60'), ...answers(503, '0x60 6000x60') },
    // Prometheus evaluates groups of rules in any order, so an alert may use recorded rates that are up to a minute old.
    at: '65m',
    firing: ['BrandDataAvailabilityBudgetBurn critical'],
  },
  'a failure that is over stops paging': {
    series: { ...answers(200, '6000x300'), ...answers(503, '0x60 3000x2 0x240') },
    at: '75m',
    firing: [],
  },
  'one call in 800 that fails, for days, is a ticket and no page': {
    series: { ...answers(200, '8000x600'), ...answers(503, '10x600') },
    at: '6h',
    firing: ['BrandDataAvailabilityBudgetBurn warning'],
  },
  'answers that are slow for a quarter of the calls page': {
    series: { ...answers(200, '6000x120'), ...latency('4500x120', '6000x120') },
    at: '30m',
    firing: ['BrandDataLatencyBudgetBurn critical'],
  },
  'usage that waits though some is applied': {
    series: {
      ...counter(
        'metering_usage_consumer_lag_messages',
        'metering',
        ',stream="BRAND_DATA_USAGE",state="pending"',
        '0+900x30',
      ),
      ...counter('metering_usage_messages_total', 'metering', ',result="applied"', '0+100x30'),
    },
    at: '15m',
    firing: ['BrandDataUsageLag warning'],
  },
  'usage that nobody applies': {
    series: {
      ...counter(
        'metering_usage_consumer_lag_messages',
        'metering',
        ',stream="BRAND_DATA_USAGE",state="pending"',
        '0+50x30',
      ),
      ...counter('metering_usage_messages_total', 'metering', ',result="applied"', '100x30'),
    },
    at: '12m',
    firing: ['BrandDataUsageNotApplied critical'],
  },
  'usage of unknown grants that goes on coming': {
    series: counter(
      'metering_usage_consumer_lag_messages',
      'metering',
      ',stream="BRAND_DATA_PARKED_USAGE",state="unacknowledged"',
      '0x5 8000x30',
    ),
    at: '13m',
    firing: ['BrandDataUsageParked warning'],
  },
  'usage that was delivered, but not to metering': {
    series: {
      ...counter(
        'metering_usage_consumer_lag_messages',
        'metering',
        ',stream="BRAND_DATA_USAGE",state="unacknowledged"',
        '38x30',
      ),
      ...counter(
        'metering_usage_consumer_lag_messages',
        'metering',
        ',stream="BRAND_DATA_USAGE",state="pending"',
        '0x30',
      ),
      ...counter('metering_usage_messages_total', 'metering', ',result="applied"', '100x30'),
    },
    at: '12m',
    firing: ['BrandDataUsageNotApplied critical'],
  },
  'a message that cannot be read': {
    series: counter('metering_dead_letter_messages', 'metering', '', '0x5 1x30'),
    at: '7m',
    firing: ['BrandDataDeadLetters warning'],
  },
  'a notice that the webhook does not accept': {
    series: counter('metering_notices_waiting', 'metering', ',state="failed"', '0x5 1x30'),
    at: '7m',
    firing: ['BrandDataNoticesFailed warning'],
  },
  'a gateway that crashed': {
    series: counter('metering_settled_grants_total', 'metering', '', '0x5 3x60'),
    at: '15m',
    firing: ['BrandDataGrantsSettled warning'],
  },
  'a gateway that crashed, an hour later': {
    series: counter('metering_settled_grants_total', 'metering', '', '0x5 3x90'),
    at: '65m',
    firing: [],
  },
  'usage of closed grants that is dropped though no gateway went away': {
    series: { ...dropped('closed_grant'), ...startedLongAgo('gateway') },
    at: '8m',
    firing: ['BrandDataUsageDropped critical'],
  },
  'usage of a grant by another holder, and a forged message': {
    series: {
      ...dropped('foreign_grant'),
      ...counter('metering_rejected_total', 'metering', ',reason="foreign_grant"', '0x5 1x30'),
      ...counter('metering_rejected_total', 'metering', ',reason="forged"', '0x5 1x30'),
    },
    at: '7m',
    firing: ['BrandDataSenderRejected critical', 'BrandDataUsageDropped critical'],
  },
  'usage of closed grants that is dropped after they were settled': {
    series: {
      ...dropped('closed_grant'),
      ...startedLongAgo('gateway'),
      ...counter('metering_settled_grants_total', 'metering', '', '0x3 2x30'),
    },
    at: '8m',
    firing: ['BrandDataGrantsSettled warning'],
  },
  'usage of closed grants that is dropped after a gateway was started again': {
    series: {
      ...dropped('closed_grant'),
      ...counter('process_start_time_seconds', 'gateway', '', '-9000x3 200x30'),
    },
    at: '8m',
    firing: [],
  },
  'usage of closed grants that is dropped after a gateway went away for good': {
    series: {
      ...dropped('closed_grant'),
      ...counter('process_start_time_seconds', 'gateway', '', '-9000x3 stale'),
    },
    at: '8m',
    firing: [],
  },
  'usage of grants that were closed long ago, which comes again and was most likely billed, fires nothing': {
    series: dropped('forgotten_grant'),
    at: '8m',
    firing: [],
  },
  'usage that makes no sense, which no gateway that went away explains': {
    series: {
      ...dropped('unreadable'),
      ...counter('process_start_time_seconds', 'gateway', '', '-9000x3 200x30'),
      ...counter('metering_settled_grants_total', 'metering', '', '0x3 2x30'),
    },
    at: '8m',
    firing: ['BrandDataGrantsSettled warning', 'BrandDataUsageDropped critical'],
  },
  'answers that are not billed (more in unbilled.test.ts)': {
    series: {
      ...counter('gateway_charged_calls_total', 'gateway', ',certainty="answered"', '0+600x60'),
      ...counter('metering_billed_calls_total', 'metering', '', '0+590x60'),
    },
    at: '40m',
    firing: ['BrandDataAnswersNotBilled critical'],
  },
  'a stream that fills': {
    series: counter('metering_usage_stream_fill_ratio', 'metering', ',stream="BRAND_DATA_USAGE"', '0.6x30'),
    at: '10m',
    firing: ['BrandDataUsageStreamFilling warning'],
  },
  'a stream that is almost full': {
    series: counter('metering_usage_stream_fill_ratio', 'metering', ',stream="BRAND_DATA_USAGE"', '0.9x30'),
    at: '10m',
    firing: ['BrandDataUsageStreamAlmostFull critical', 'BrandDataUsageStreamFilling warning'],
  },
  'use that cannot be recorded': {
    series: counter('gateway_usage_commit_failed_calls_total', 'gateway', '', '0x5 0+20x20'),
    at: '12m',
    firing: ['BrandDataUsageNotRecorded critical'],
  },
  'a service that is gone': {
    series: {},
    at: '5m',
    firing: ['BrandDataServiceAbsent critical'],
  },
  'NATS that is away from one service': {
    series: {
      ...counter('nats_connected', 'gateway', '', '0x30'),
      ...counter('nats_connected', 'metering', '', '1x30'),
    },
    at: '3m',
    firing: ['BrandDataNatsAway critical'],
  },
  'usage that goes around a slow stream': {
    series: {
      ...counter('gateway_usage_commit_duration_seconds_count', 'gateway', ',path="stream"', '0+60x30'),
      ...counter('gateway_usage_commit_duration_seconds_count', 'gateway', ',path="report"', '0+40x30'),
    },
    at: '12m',
    firing: ['BrandDataUsageByReport warning'],
  },
  'accounts that does not answer': {
    series: counter('gateway_upstream_failures_total', 'gateway', ',upstream="accounts"', '0x5 0+30x20'),
    at: '8m',
    firing: ['BrandDataAccountsAway critical'],
  },
  'catalog that does not answer': {
    series: counter('gateway_upstream_failures_total', 'gateway', ',upstream="catalog"', '0x5 0+30x20'),
    at: '8m',
    firing: ['BrandDataCatalogAway critical'],
  },
  'one request that catalog did not answer fires nothing': {
    series: counter('gateway_upstream_failures_total', 'gateway', ',upstream="catalog"', '0x5 1x20'),
    at: '8m',
    firing: [],
  },
  'metering that does not answer': {
    series: counter('gateway_quota_acquires_total', 'gateway', ',outcome="unavailable"', '0x5 0+30x20'),
    at: '8m',
    firing: ['BrandDataMeteringAway critical'],
  },
  'a gateway that hears no account changes': {
    series: counter('gateway_account_changes_age_seconds', 'gateway', '', '0x5 0+60x20'),
    at: '8m',
    firing: ['BrandDataAccountChangesNotHeard warning'],
  },
  'MongoDB that is away from one service': {
    series: {
      ...counter('mongodb_connected', 'catalog', '', '1x30'),
      ...counter('mongodb_connected', 'metering', '', '0x30'),
    },
    at: '3m',
    firing: ['BrandDataMongoDBAway critical'],
  },
  'a database without connections': {
    series: counter('mongodb_pool_wait_failures_total', 'catalog', ',reason="timeout"', '0x5 0+30x20'),
    at: '8m',
    firing: ['BrandDataMongoDBConnectionsMissing warning'],
  },
  'an account that is held to its rate': {
    series: counter('gateway_rate_limited_calls_total', 'gateway', ',limit="account_rate"', '0+6000x30'),
    at: '10m',
    firing: ['BrandDataCallsHeldToRate warning'],
  },
  'someone who tries tokens': {
    series: counter('gateway_tokens_refused_unasked_total', 'gateway', ',reason="wrong"', '0+300000x30'),
    at: '15m',
    firing: ['BrandDataTokensTried warning'],
  },
  'a message that gateways cannot read': {
    series: counter('gateway_unreadable_messages_total', 'gateway', ',kind="catalog_changes"', '0x5 1x30'),
    at: '8m',
    firing: ['BrandDataMessagesDropped warning'],
  },
  'a message that gateways could not read a quarter of an hour ago': {
    series: counter('gateway_unreadable_messages_total', 'gateway', ',kind="catalog_changes"', '0x5 1x30'),
    at: '20m',
    firing: [],
  },
  'a process that is late': {
    series: counter('nodejs_eventloop_lag_p99_seconds', 'gateway', ',pod="gateway-1"', '0.4x30'),
    at: '10m',
    firing: ['BrandDataEventLoopLag warning'],
  },
  "another product's process that is late fires nothing": {
    series: {
      'nodejs_eventloop_lag_p99_seconds{namespace="other",instance="other"}': '0.4x30',
      'kubelet_volume_stats_available_bytes{namespace="other",persistentvolumeclaim="x"}': '1x90',
      'kubelet_volume_stats_capacity_bytes{namespace="other",persistentvolumeclaim="x"}': '100x90',
      'certmanager_certificate_expiration_timestamp_seconds{namespace="other",name="x"}': '100000x90',
    },
    at: '80m',
    firing: [],
  },
  'containers that end again and again': {
    series: counter(
      'process_start_time_seconds',
      'catalog',
      '',
      '100 100 220 220 340 340 460 460 580 580x20',
    ),
    at: '9m',
    firing: ['BrandDataRestarts warning'],
  },
  'an upgrade that has stopped half-way': {
    series: {
      'brand_data_build_info{service="gateway",namespace="prod",instance="g2",version="2"}': '1x120',
    },
    at: '90m',
    firing: ['BrandDataMixedVersions warning'],
  },
  'one request for an image in ten that fails': {
    series: { ...imageAnswers(200, '90x30'), ...imageAnswers(503, '10x30') },
    at: '15m',
    firing: ['BrandDataImagesFailing critical'],
  },
  'a few requests for images that fail, of the few that there are, fire nothing': {
    series: { ...imageAnswers(200, '1x30'), ...imageAnswers(503, '1x30') },
    at: '15m',
    firing: [],
  },
  'pictures that cannot be drawn': {
    series: counter('images_work_failures_total', 'images', ',work="render",reason="killed"', '0x5 0+2x30'),
    at: '20m',
    firing: ['BrandDataImagesNotDrawn warning'],
  },
  'files that are refused fire nothing': {
    series: {
      ...counter('images_work_failures_total', 'images', ',work="ingest",reason="refused"', '0x5 0+20x30'),
      ...counter('images_work_failures_total', 'images', ',work="render",reason="refused"', '0x5 0+20x30'),
    },
    at: '20m',
    firing: [],
  },
  'a sync that was due seven hours ago': {
    series: dueAt('0x60 3600x400'),
    step: '30m',
    at: '8h',
    firing: ['BrandDataSourceOverdue warning'],
  },
  'a sync that was due an hour ago, and one of a later time, fire nothing': {
    series: { ...dueAt('0x400'), ...dueAt('14400x400', 'other-replica') },
    step: '30m',
    at: '5h',
    firing: [],
  },
  'an import that a guard stopped': {
    series: lastImport('stopped'),
    at: '20m',
    firing: ['BrandDataImportNotDone warning'],
  },
  'an import that failed': {
    series: lastImport('failed'),
    at: '20m',
    firing: ['BrandDataImportNotDone warning'],
  },
  'imports that finished, run or are undone fire nothing': {
    series: { ...lastImport('finished'), ...lastImport('running'), ...lastImport('undone') },
    at: '20m',
    firing: [],
  },
  'prices of a fortnight ago': {
    series: priceAge('market-data', '10x400'),
    at: '3h',
    firing: ['BrandDataPricesOld warning'],
  },
  'prices from before the holidays, and those of the sample, fire nothing': {
    series: { ...priceAge('market-data', '7x400'), ...priceAge('sample', '80x400') },
    at: '3h',
    firing: [],
  },
  'copies that end two days ago': {
    series: backups('0x200'),
    step: '30m',
    at: '50h',
    firing: ['BrandDataNoBackup warning'],
  },
  'copies each day fire nothing': {
    series: backups('0x48 86400x48 172800x48'),
    step: '30m',
    at: '60h',
    firing: [],
  },
  'an installation that never had a copy': {
    series: backups('_x200'),
    step: '30m',
    at: '50h',
    firing: ['BrandDataNoBackup warning'],
  },
  'an installation of yesterday without a copy fires nothing': {
    series: backups('_x200'),
    step: '30m',
    at: '30h',
    firing: [],
  },
  'sweeps that fail for three days': {
    series: {
      ...sweeps('0x2 1x200'),
      ...counter('images_sweeps_total', 'images', ',result="failed"', '0+1x200'),
    },
    step: '30m',
    at: '76h',
    firing: ['BrandDataImagesNotSwept warning'],
  },
  'sweeps that succeed each day, each time in a new pod, fire nothing': {
    series: sweepsOfNewPods,
    step: '30m',
    at: '76h',
    firing: [],
  },
  'images that was installed two days ago and has not been swept fires nothing': {
    series: {
      [`brand_data_build_info${of('images', ',version="1"')}`]: '_x60 1x200',
      ...sweeps('_x60 0x200'),
    },
    step: '30m',
    at: '76h',
    firing: [],
  },
  'a credential that an admin port refuses once': {
    series: counter('grpc_operator_refusals_total', 'images', ',reason="unknown"', '0x5 1x30'),
    at: '8m',
    firing: ['BrandDataOperatorRefused warning'],
  },
  'a credential that an admin port refused a quarter of an hour ago': {
    series: counter('grpc_operator_refusals_total', 'images', ',reason="unknown"', '0x5 1x30'),
    at: '20m',
    firing: [],
  },
  'changes that the trail could not be told of': {
    series: counter('grpc_operator_trail_failures_total', 'images', ',stage="before"', '0x5 2x30'),
    at: '9m',
    firing: ['BrandDataTrailIncomplete warning'],
  },
  'a message about a change that accounts cannot read': {
    series: {
      ...counter('accounts_audit_events_total', 'accounts', ',result="unreadable"', '0x5 1x30'),
      ...counter('accounts_audit_events_total', 'accounts', ',result="failed"', '0+1x30'),
    },
    at: '9m',
    firing: ['BrandDataTrailIncomplete warning'],
  },
  'a volume that fills': {
    series: {
      'kubelet_volume_stats_available_bytes{namespace="prod",persistentvolumeclaim="data-nats-0"}': '10x30',
      'kubelet_volume_stats_capacity_bytes{namespace="prod",persistentvolumeclaim="data-nats-0"}': '100x30',
    },
    at: '10m',
    firing: ['BrandDataVolumeFilling critical'],
  },
  'a certificate that expires': {
    series: {
      'certmanager_certificate_expiration_timestamp_seconds{namespace="cert-manager",exported_namespace="prod",name="api"}':
        '864000x90',
    },
    at: '80m',
    firing: ['BrandDataCertificateExpiring warning'],
  },
  'the certificate of a service expires in 20 days': {
    series: { [`grpc_certificate_remaining_seconds${of('metering', ',certificate="own"')}`]: '1728000x120' },
    at: '2h',
    firing: ['BrandDataServiceCertificateExpiring warning'],
  },
  'the authority of the services expires in 2 days': {
    series: { [`grpc_certificate_remaining_seconds${of('metering', ',certificate="ca"')}`]: '172800x120' },
    at: '2h',
    firing: ['BrandDataServiceCertificateExpiring critical', 'BrandDataServiceCertificateExpiring warning'],
  },
  'a service has read certificate files that do not fit together': {
    series: counter('grpc_certificate_reloads_total', 'catalog', ',result="refused"', '0x20 1x60'),
    at: '40m',
    firing: ['BrandDataCertificatesNotUsable warning'],
  },
  'a gateway calls an admin port for the first time': { ...refusedCaller('_x20 1x60'), at: '22m' },
  'a gateway calls an admin port again': { ...refusedCaller('1x20 2x60'), at: '22m' },
  'a gateway called an admin port an hour ago': { ...refusedCaller('_x20 1x60'), at: '70m', firing: [] },
  'something without a certificate connects again and again': {
    series: counter('grpc_server_refused_handshakes_total', 'metering', ',reason="no_tls"', '0x20 1+1x60'),
    at: '30m',
    firing: ['BrandDataConnectionRefused warning'],
  },
  'a load balancer opens and closes connections': {
    series: counter('grpc_server_refused_handshakes_total', 'metering', ',reason="broken_off"', '0+9x60'),
    at: '30m',
    firing: [],
  },
};

describe('for every alert there is a case in which it fires', () => {
  const fired = Object.values(SCENARIOS).flatMap(({ firing }) => firing.map((each) => each.split(' ')[0]));
  test.each(names)('%s', (name) => expect(fired).toContain(name));
});

describe.skipIf(promtool === undefined)('promtool', () => {
  test('reads the rules', () => {
    const { isGood, output } = runPromtool(['check', 'rules', ...ruleFiles()]);
    expect(isGood, output).toBe(true);
  });

  test.each(Object.keys(SCENARIOS))(
    'finds that these alerts fire, and no others: %s',
    (name) => {
      const { series, step = '1m', at, firing } = SCENARIOS[name] as Scenario;
      const there = name === 'a service that is gone' ? ALL.filter((service) => service !== 'metering') : ALL;
      const samples = firing.map((each) => {
        const [alertname, severity] = each.split(' ');
        return { labels: `{alertname="${alertname}",severity="${severity}"}`, value: 1 };
      });
      const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
      try {
        const file = join(folder, 'test.yaml');
        const input = Object.entries({ ...builds(...there), ...backups('1000000000x600'), ...series });
        writeFileSync(
          file,
          stringify({
            rule_files: ruleFiles(),
            evaluation_interval: step,
            tests: [
              {
                interval: step,
                input_series: input.map(([each, values]) => ({ series: each, values })),
                promql_expr_test: [
                  {
                    // An alert with several windows is listed once.
                    expr: 'group by (alertname, severity) (ALERTS{alertstate="firing"})',
                    eval_time: at,
                    exp_samples: samples,
                  },
                ],
              },
            ],
          }),
        );
        const { isGood, output } = runPromtool(['test', 'rules', file]);
        expect(isGood, output).toBe(true);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    120_000,
  );
});
