import type { Dashboard, Panel, Row } from './grafana.ts';
import { least, mean, most, orZero, quantile, rate, share, sum } from './queries.ts';

const GOOD = 'route=~"brands|logos", status=~"200|304|404"';
const FAILED = 'status=~"5.."';
/** The metrics of one service, or of the service that the person chooses. */
type Service = 'gateway' | 'images' | '$service';

const of = (service: Service) => `service="${service}"`;

const calls: Panel[] = [
  {
    title: 'Calls by route',
    description: 'Answers a second, by route.',
    unit: 'reqps',
    queries: { '{{route}}': rate('gateway_http_requests_total', 'route') },
  },
  {
    title: 'Calls by status',
    description: 'Answers a second, by status. 5xx: the product failed. 429: the quota is used up.',
    unit: 'reqps',
    queries: { '{{status}}': rate('gateway_http_requests_total', 'status') },
  },
  {
    title: 'Time to answer, successful answers',
    description:
      'Seconds until a successful answer on the counted routes. The objective is 99 % within 0.1 s.',
    unit: 's',
    queries: {
      '50 %': quantile(0.5, 'gateway_http_request_duration_seconds', '', GOOD),
      '95 %': quantile(0.95, 'gateway_http_request_duration_seconds', '', GOOD),
      '99 %': quantile(0.99, 'gateway_http_request_duration_seconds', '', GOOD),
    },
  },
];

const overview: Dashboard = {
  name: 'overview',
  title: 'Brand Data / Overview',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          title: 'Calls',
          description: 'Answers to callers a second.',
          unit: 'reqps',
          stat: true,
          queries: { calls: rate('gateway_http_requests_total') },
        },
        {
          title: 'Failed answers',
          description: 'Share of the answers with a 5xx status.',
          unit: 'percentunit',
          stat: true,
          queries: { failed: share('gateway_http_requests_total', FAILED) },
        },
        {
          title: 'Time to answer, 99 %',
          description: 'Seconds within which 99 % of the successful answers on the counted routes are sent.',
          unit: 's',
          stat: true,
          queries: { '99 %': quantile(0.99, 'gateway_http_request_duration_seconds', '', GOOD) },
        },
        {
          title: 'NATS',
          description: '1: every service is connected to NATS. 0: at least one is not.',
          unit: 'none',
          stat: true,
          queries: { connected: `min (nats_connected{namespace=~"$namespace"})` },
        },
        {
          title: 'Undelivered usage',
          description: 'Messages in the usage streams that no replica of metering has yet.',
          unit: 'short',
          stat: true,
          queries: { messages: most('metering_usage_consumer_lag_messages', 'stream', 'state="pending"') },
        },
        {
          title: 'Dead letters',
          description:
            'Messages in the dead-letter stream: usage events that metering could not read or bill.',
          unit: 'short',
          stat: true,
          queries: { messages: `max (metering_dead_letter_messages{namespace=~"$namespace"})` },
        },
      ],
    },
    { title: 'Calls', panels: calls },
    {
      title: 'Objectives',
      panels: [
        {
          title: 'Availability: budget burn',
          description:
            'How many times faster than allowed the error budget of 99.9 % in 30 days is used up. Above 14.4 for an hour, a critical alert fires.',
          unit: 'short',
          queries: {
            '1 h': 'namespace:gateway_http_requests_failed:ratio_rate1h{namespace=~"$namespace"} / 0.001',
            '6 h': 'namespace:gateway_http_requests_failed:ratio_rate6h{namespace=~"$namespace"} / 0.001',
            '3 d': 'namespace:gateway_http_requests_failed:ratio_rate3d{namespace=~"$namespace"} / 0.001',
          },
        },
        {
          title: 'Latency: budget burn',
          description: 'How many times faster than allowed the budget of 99 % within 0.1 s is used up.',
          unit: 'short',
          queries: {
            '1 h': 'namespace:gateway_http_requests_slow:ratio_rate1h{namespace=~"$namespace"} / 0.01',
            '6 h': 'namespace:gateway_http_requests_slow:ratio_rate6h{namespace=~"$namespace"} / 0.01',
            '3 d': 'namespace:gateway_http_requests_slow:ratio_rate3d{namespace=~"$namespace"} / 0.01',
          },
        },
        {
          title: 'Requests without an answer in time',
          description:
            'Requests a second that a service did not answer in time, and batches of usage a second that went to metering because NATS had not confirmed them in time.',
          unit: 'reqps',
          queries: {
            '{{upstream}}': rate('gateway_upstream_failures_total', 'upstream'),
            metering: rate('gateway_quota_acquires_total', '', 'outcome="unavailable"'),
            'NATS (batches by report)': rate(
              'gateway_usage_commit_duration_seconds_count',
              '',
              'path="report"',
            ),
          },
        },
      ],
    },
    {
      title: 'Services',
      panels: [
        {
          title: 'Pods by version',
          description:
            'Number of pods. If a service has two versions for a long time, an upgrade has stopped half-way.',
          unit: 'short',
          queries: {
            '{{service}} {{version}}':
              'count by (service, version) (brand_data_build_info{namespace=~"$namespace"})',
          },
        },
        {
          title: 'CPU',
          description: 'Processor cores that are used, by service.',
          unit: 'short',
          queries: {
            '{{service}}': `sum by (service) (rate(process_cpu_seconds_total{namespace=~"$namespace"}[$__rate_interval]) and on (instance) brand_data_build_info)`,
          },
        },
        {
          title: 'Memory',
          description: 'Resident memory of the largest process of each service.',
          unit: 'bytes',
          queries: {
            '{{service}}': `max by (service) (process_resident_memory_bytes{namespace=~"$namespace"} and on (instance) brand_data_build_info)`,
          },
        },
      ],
    },
  ],
};

const quota: Dashboard = {
  name: 'quota',
  title: 'Brand Data / Quota',
  rows: [
    {
      title: 'Permits',
      panels: [
        {
          title: 'Held permits and grants',
          description:
            'Permits that all gateways hold and that are neither used nor reserved, and the grants that they hold.',
          unit: 'short',
          queries: { permits: sum('gateway_quota_permits'), grants: sum('gateway_quota_grants') },
        },
        {
          title: 'Requests for grants',
          description:
            'Requests for grants a second, by the answer of metering. "unavailable": metering is down. "wait": other gateways hold the remaining permits.',
          unit: 'reqps',
          queries: { '{{outcome}}': rate('gateway_quota_acquires_total', 'outcome') },
        },
        {
          title: 'Decisions of metering',
          description: 'Requests for grants a second, by what metering decided.',
          unit: 'reqps',
          queries: { '{{decision}}': rate('metering_acquires_total', 'decision') },
        },
        {
          title: 'Calls that waited',
          description:
            'Calls a second that waited because the gateway held no permit for them. Their accounts are near the limit, or metering is slow.',
          unit: 'reqps',
          queries: { calls: rate('gateway_quota_waited_calls_total') },
        },
        {
          title: 'Refused: quota used up',
          description: 'Calls a second that were answered 429.',
          unit: 'reqps',
          queries: { '429': orZero(rate('gateway_http_requests_total', '', 'status="429"')) },
        },
        {
          title: 'Recalls',
          description:
            'Recalls a second that metering broadcast, and permits a second that gateways returned because of them.',
          unit: 'short',
          queries: {
            recalls: rate('metering_recalls_total'),
            'returned permits': rate('gateway_quota_recalled_permits_total'),
          },
        },
      ],
    },
    {
      title: 'From a call to the bill',
      panels: [
        {
          title: 'Commit duration',
          description:
            'Seconds until a batch of usage is durable, by path. This time is part of every call. "report": NATS is down or slow.',
          unit: 's',
          queries: {
            '{{path}} 50 %': quantile(0.5, 'gateway_usage_commit_duration_seconds', 'path'),
            '{{path}} 99 %': quantile(0.99, 'gateway_usage_commit_duration_seconds', 'path'),
          },
        },
        {
          title: 'Calls in a batch of usage',
          description: 'Mean number of calls whose usage is acknowledged in one batch.',
          unit: 'short',
          queries: { calls: mean('gateway_usage_batch_calls') },
        },
        {
          title: 'Usage not confirmed in time',
          description:
            'Calls a second whose usage neither the stream nor metering confirmed in time. They got 503, and their permits stay used.',
          unit: 'reqps',
          queries: { calls: rate('gateway_usage_commit_failed_calls_total') },
        },
        {
          title: 'Charged and billed',
          description:
            'Calls a second whose answer said that they are charged, and calls a second that metering billed. "answered" calls are billed. "unsure" calls (503) may be billed or not.',
          unit: 'reqps',
          queries: {
            '{{certainty}}': rate('gateway_charged_calls_total', 'certainty'),
            billed: rate('metering_billed_calls_total'),
          },
        },
        {
          title: 'Answered minus billed',
          description:
            'Calls of the last half hour that were answered and are not billed. Late usage is included, and so are calls that a process counted before it ended, after Prometheus last read it. If this is above the allowed number for three minutes, an alert fires.',
          unit: 'short',
          queries: {
            'answered minus billed': sum('namespace:answered_minus_billed_calls:increase30m'),
            allowed: sum('namespace:answered_minus_billed_calls:allowed30m'),
          },
        },
        {
          title: 'Dropped usage',
          description:
            'Calls a minute that metering will never bill, by reason; a call may be counted more than once. "forgotten_grant": most likely they were billed before. Other reasons: the calls are lost, unless a gateway had crashed.',
          unit: 'short',
          queries: { '{{reason}}': `60 * ${rate('metering_usage_dropped_calls_total', 'reason')}` },
        },
        {
          title: 'Usage messages',
          description: 'Messages a second that metering took from the usage streams, by result.',
          unit: 'short',
          queries: { '{{result}}': rate('metering_usage_messages_total', 'result') },
        },
        {
          title: 'Report requests',
          description:
            'Report requests a second, with which gateways send usage directly to metering, by result. Above 0: NATS is down or slow.',
          unit: 'reqps',
          queries: { '{{result}}': rate('metering_reports_total', 'result') },
        },
        {
          title: 'Apply duration',
          description: 'Seconds until a batch of usage messages was stored or failed.',
          unit: 's',
          queries: {
            '50 %': quantile(0.5, 'metering_usage_apply_duration_seconds'),
            '99 %': quantile(0.99, 'metering_usage_apply_duration_seconds'),
          },
        },
        {
          title: 'Messages in a batch',
          description: 'Mean number of usage messages that metering applies together.',
          unit: 'short',
          queries: { messages: mean('metering_usage_batch_messages') },
        },
        {
          title: 'Usage messages not applied',
          description:
            'Usage messages that are not applied. "pending": no replica has them yet. "unacknowledged": a replica has them.',
          unit: 'short',
          queries: { '{{stream}} {{state}}': most('metering_usage_consumer_lag_messages', 'stream, state') },
        },
        {
          title: 'Fill of the usage streams',
          description:
            'Bytes in a usage stream divided by its largest size. At 100 % it accepts no more messages. Alerts fire above 50 % and 80 %.',
          unit: 'percentunit',
          queries: { '{{stream}}': most('metering_usage_stream_fill_ratio', 'stream') },
        },
        {
          title: 'Dead letters',
          description:
            'Messages in the dead-letter stream: usage events that metering could not read or bill.',
          unit: 'short',
          queries: { messages: `max (metering_dead_letter_messages{namespace=~"$namespace"})` },
        },
        {
          title: 'Settled grants',
          description:
            'Grants a minute that metering settled: it closed them because their holder had disappeared.',
          unit: 'short',
          queries: { grants: `60 * ${rate('metering_settled_grants_total')}` },
        },
        {
          title: 'Notices',
          description:
            'Accounts a minute that have used 80 or 100 percent of their allowance, and attempts a minute to deliver notices of this to the webhook.',
          unit: 'short',
          queries: {
            '{{threshold}} %': `60 * ${rate('metering_notices_total', 'threshold')}`,
            '{{outcome}}': `60 * ${rate('metering_notice_deliveries_total', 'outcome')}`,
          },
        },
        {
          title: 'Notices without delivery',
          description:
            'Notices that the webhook has not accepted. "pending": metering tries again. "failed": it has given up.',
          unit: 'short',
          queries: { '{{state}}': most('metering_notices_waiting', 'state') },
        },
      ],
    },
  ],
};

const processRow = (service: Service): Row => ({
  title: 'Processes',
  panels: [
    {
      title: 'CPU',
      description: 'Processor cores that are used, by pod. A gateway uses one at most.',
      unit: 'short',
      queries: { '{{instance}}': rate('process_cpu_seconds_total', 'instance', of(service)) },
    },
    {
      title: 'Memory',
      description: 'Resident memory, by pod.',
      unit: 'bytes',
      queries: { '{{instance}}': sum('process_resident_memory_bytes', 'instance', of(service)) },
    },
    {
      title: 'Heap and buffers',
      description:
        'Memory of JavaScript objects (heap), and memory outside the heap (buffers), such as the cache of records.',
      unit: 'bytes',
      queries: {
        'heap {{instance}}': sum('nodejs_heap_size_used_bytes', 'instance', of(service)),
        'buffers {{instance}}': sum('nodejs_external_memory_bytes', 'instance', of(service)),
      },
    },
    {
      title: 'Event-loop lag',
      description:
        '99th percentile of the seconds between turns of the event loop, by pod. About 0.01 s: idle. Above 0.05 s: the process uses all of its core.',
      unit: 's',
      queries: { '{{instance}}': most('nodejs_eventloop_lag_p99_seconds', 'instance', of(service)) },
    },
    {
      title: 'Garbage collection',
      description: 'Share of the time that garbage collection takes, by pod.',
      unit: 'percentunit',
      queries: { '{{instance}}': rate('nodejs_gc_duration_seconds_sum', 'instance', of(service)) },
    },
    {
      title: 'Open files and connections',
      description: 'Number of open files and connections, by pod.',
      unit: 'short',
      queries: { '{{instance}}': sum('process_open_fds', 'instance', of(service)) },
    },
  ],
});

const unreadable = {
  title: 'Messages dropped',
  description:
    'Messages a minute that a gateway dropped, by kind, because it could not read them or they were sent to another subject. There should be none.',
  unit: 'short',
  queries: { '{{kind}}': `60 * ${rate('gateway_unreadable_messages_total', 'kind')}` },
} as const;

const natsRow = (service: Service): Row => ({
  title: 'NATS',
  panels: [
    {
      title: 'Connected',
      description: '1: every pod is connected to NATS. 0: at least one is not.',
      unit: 'none',
      queries: { connected: least('nats_connected', 'service', of(service)) },
    },
    {
      title: 'Reconnects',
      description: 'Times a minute that a pod reconnected to NATS after losing its connection.',
      unit: 'short',
      queries: { '{{instance}}': `60 * ${rate('nats_reconnects_total', 'instance', of(service))}` },
    },
    {
      title: 'Publish duration',
      description:
        'Seconds until a stream had stored a message ("ok"), or until publishing failed ("error").',
      unit: 's',
      queries: {
        '{{result}} 50 %': quantile(0.5, 'nats_publish_duration_seconds', 'result', of(service)),
        '{{result}} 99 %': quantile(0.99, 'nats_publish_duration_seconds', 'result', of(service)),
      },
    },
    ...(service === 'gateway' ? [unreadable] : []),
  ],
});

const mongoRow = (service: Service): Row => ({
  title: 'MongoDB',
  panels: [
    {
      title: 'Connected',
      description: '1: every pod knows a MongoDB server that accepts writes. 0: at least one pod knows none.',
      unit: 'none',
      queries: { connected: least('mongodb_connected', 'service', of(service)) },
    },
    {
      title: 'Connection pool',
      description:
        'Connections by state, and operations that wait for one. A pod has at most 50 connections to each server.',
      unit: 'short',
      queries: {
        '{{state}}': sum('mongodb_pool_connections', 'state', of(service)),
        waiting: sum('mongodb_pool_waiting_operations', '', of(service)),
      },
    },
    {
      title: 'Wait for a connection',
      description:
        'Seconds that operations waited for a connection. If this is more than a few milliseconds, the database is too slow for the load.',
      unit: 's',
      queries: {
        '50 %': quantile(0.5, 'mongodb_pool_wait_duration_seconds', '', of(service)),
        '99 %': quantile(0.99, 'mongodb_pool_wait_duration_seconds', '', of(service)),
      },
    },
    {
      title: 'Operations without a connection',
      description: 'Operations a second that got no connection, by reason.',
      unit: 'ops',
      queries: { '{{reason}}': rate('mongodb_pool_wait_failures_total', 'reason', of(service)) },
    },
  ],
});

const gateway: Dashboard = {
  name: 'gateway',
  title: 'Brand Data / Gateway',
  rows: [
    {
      title: 'Calls',
      panels: [
        ...calls,
        {
          title: 'Calls by pod',
          description: 'Answers a second, by pod.',
          unit: 'reqps',
          queries: { '{{instance}}': rate('gateway_http_requests_total', 'instance') },
        },
        {
          title: 'Time to answer by route',
          description: '99th percentile of the seconds until an answer, by route.',
          unit: 's',
          queries: { '{{route}}': quantile(0.99, 'gateway_http_request_duration_seconds', 'route') },
        },
        {
          title: 'Failures by pod',
          description: 'Answers with a 5xx status a second, by pod.',
          unit: 'reqps',
          queries: { '{{instance}}': rate('gateway_http_requests_total', 'instance', FAILED) },
        },
      ],
    },
    {
      title: 'Limits and overload',
      panels: [
        {
          title: 'Refused: rate or concurrency',
          description:
            'Calls a second that an account or a key made beyond its rate or its concurrency, by limit.',
          unit: 'reqps',
          queries: { '{{limit}}': rate('gateway_rate_limited_calls_total', 'limit') },
        },
        {
          title: 'Tokens refused without a question',
          description: 'Calls a second whose token the gateway refused without asking accounts, by reason.',
          unit: 'reqps',
          queries: { '{{reason}}': rate('gateway_tokens_refused_unasked_total', 'reason') },
        },
        {
          title: 'Overload',
          description: 'Calls that wait for their turn, and calls a second that got 503 because of overload.',
          unit: 'short',
          queries: {
            waiting: sum('gateway_calls_waiting'),
            refused: rate('gateway_shed_calls_total'),
          },
        },
      ],
    },
    {
      title: 'Caches and batches',
      panels: [
        {
          title: 'Cache hits',
          description: 'Share of the look-ups for which the cache had the answer.',
          unit: 'percentunit',
          queries: {
            '{{cache}}': `${rate('gateway_cache_requests_total', 'cache', 'result="hit"')} / ${rate('gateway_cache_requests_total', 'cache')}`,
          },
        },
        {
          title: 'Misses and stale answers',
          description:
            'Look-ups a second. "stale": another service did not answer in time, so the gateway used the old entry.',
          unit: 'reqps',
          queries: {
            '{{cache}} {{result}}': rate('gateway_cache_requests_total', 'cache, result', 'result!="hit"'),
          },
        },
        {
          title: 'Full expiries of cached records',
          description:
            'Times a second that gateways expired all cached records, because they could not know which ones had changed, by reason.',
          unit: 'ops',
          queries: { '{{reason}}': rate('gateway_record_full_expiries_total', 'reason') },
        },
        {
          title: 'Size of the cache of records',
          description: 'Bytes that the entries take, by pod.',
          unit: 'bytes',
          queries: { '{{instance}}': sum('gateway_cache_size_bytes', 'instance', 'cache="records"') },
        },
        {
          title: 'Cache entries',
          description: 'Entries that each cache holds, in all pods together.',
          unit: 'short',
          queries: { '{{cache}}': sum('gateway_cache_entries', 'cache') },
        },
        {
          title: 'Look-ups in a request',
          description: 'Mean number of look-ups that the gateway sends to catalog in one request.',
          unit: 'short',
          queries: { queries: mean('gateway_lookup_batch_queries') },
        },
        {
          title: 'Calls that waited for a permit',
          description: 'Calls a second that waited because the gateway held no permit for them.',
          unit: 'reqps',
          queries: { calls: rate('gateway_quota_waited_calls_total') },
        },
      ],
    },
    {
      title: 'Other services, as the gateway sees them',
      panels: [
        {
          title: 'gRPC requests by method',
          description: 'Requests a second that the gateway made, by method.',
          unit: 'reqps',
          queries: { '{{grpc_method}}': rate('grpc_client_handled_total', 'grpc_method', of('gateway')) },
        },
        {
          title: 'gRPC errors by method',
          description: 'Requests a second that ended with an error, by method and code.',
          unit: 'reqps',
          queries: {
            '{{grpc_method}} {{grpc_code}}': rate(
              'grpc_client_handled_total',
              'grpc_method, grpc_code',
              `${of('gateway')}, grpc_code!="OK"`,
            ),
          },
        },
        {
          title: 'gRPC time by method',
          description: '99th percentile of the seconds until the answer, measured in the gateway, by method.',
          unit: 's',
          queries: {
            '{{grpc_method}}': quantile(0.99, 'grpc_client_handling_seconds', 'grpc_method', of('gateway')),
          },
        },
        {
          title: 'Requests without an answer in time',
          description: 'Requests a second to accounts or catalog that got no answer in time.',
          unit: 'reqps',
          queries: { '{{upstream}}': rate('gateway_upstream_failures_total', 'upstream') },
        },
        {
          title: 'Commit duration',
          description: '99th percentile of the seconds until a batch of usage is durable, by path.',
          unit: 's',
          queries: { '{{path}}': quantile(0.99, 'gateway_usage_commit_duration_seconds', 'path') },
        },
      ],
    },
    natsRow('gateway'),
    processRow('gateway'),
  ],
};

/** Panels that accounts, catalog and metering have in common. The dashboard `quota` has the panels of metering's own work. */
const backends: Dashboard = {
  name: 'backends',
  title: 'Brand Data / Accounts, catalog, metering',
  services: ['accounts', 'catalog', 'metering'],
  rows: [
    {
      title: 'gRPC',
      panels: [
        {
          title: 'Requests by method',
          description: 'gRPC requests a second that the service answered, by method.',
          unit: 'reqps',
          queries: { '{{grpc_method}}': rate('grpc_server_handled_total', 'grpc_method', of('$service')) },
        },
        {
          title: 'Errors by method',
          description:
            'gRPC requests a second that ended with an error, by method and code. CANCELLED: the client stopped waiting.',
          unit: 'reqps',
          queries: {
            '{{grpc_method}} {{grpc_code}}': rate(
              'grpc_server_handled_total',
              'grpc_method, grpc_code',
              `${of('$service')}, grpc_code!="OK"`,
            ),
          },
        },
        {
          title: 'Time by method',
          description: '99th percentile of the seconds until the answer, measured in the service, by method.',
          unit: 's',
          queries: {
            '{{grpc_method}}': quantile(0.99, 'grpc_server_handling_seconds', 'grpc_method', of('$service')),
          },
        },
      ],
    },
    {
      title: 'Refusals and trail',
      panels: [
        {
          title: 'Refused operators',
          description: 'Calls a second to admin ports with a credential that was refused, by reason.',
          unit: 'reqps',
          queries: { '{{reason}}': rate('grpc_operator_refusals_total', 'reason') },
        },
        {
          title: 'Refused holders',
          description:
            'Requests, messages and usage a second whose sender did not prove its right to them, by reason.',
          unit: 'reqps',
          queries: { '{{reason}}': rate('metering_rejected_total', 'reason') },
        },
        {
          title: 'Trail of changes',
          description:
            "Messages a second about operators' changes that accounts received, by result, and those that a service could not send.",
          unit: 'reqps',
          queries: {
            '{{result}}': rate('accounts_audit_events_total', 'result'),
            'not sent, {{stage}}': rate('grpc_operator_trail_failures_total', 'stage'),
          },
        },
      ],
    },
    {
      title: 'Identities',
      panels: [
        {
          title: 'Refused callers',
          description:
            'gRPC requests a second that a service refused because the service that made them may not, by caller and method.',
          unit: 'reqps',
          queries: {
            '{{caller}} {{grpc_method}}': rate('grpc_server_refused_callers_total', 'caller, grpc_method'),
          },
        },
        {
          title: 'Refused connections',
          description: 'Connections a second to gRPC ports without a proof of identity, by reason.',
          unit: 'ops',
          queries: { '{{reason}}': rate('grpc_server_refused_handshakes_total', 'reason') },
        },
        {
          title: 'Certificates',
          description:
            'Seconds until the certificate of a service ("own") or that of the authority that issued it ("ca") expires.',
          unit: 's',
          queries: {
            '{{service}} {{certificate}}': least(
              'grpc_certificate_remaining_seconds',
              'service, certificate',
            ),
          },
        },
        {
          title: 'Changes of certificates',
          description: 'Changes of certificate files a second that a service applied or refused.',
          unit: 'ops',
          queries: { '{{service}} {{result}}': rate('grpc_certificate_reloads_total', 'service, result') },
        },
      ],
    },
    mongoRow('$service'),
    natsRow('$service'),
    processRow('$service'),
  ],
};

const images: Dashboard = {
  name: 'images',
  title: 'Brand Data / Images',
  rows: [
    {
      title: 'Requests',
      panels: [
        {
          title: 'Requests by kind',
          description:
            'Answers a second, by kind of image. "none": the path or the query names no image. Behind a CDN, only images that the CDN does not have yet.',
          unit: 'reqps',
          queries: { '{{kind}}': rate('images_http_requests_total', 'kind') },
        },
        {
          title: 'Requests by status',
          description:
            'Answers a second, by status. 404: no such image; many mean that records name images of another host or database. 5xx: the service failed.',
          unit: 'reqps',
          queries: { '{{status}}': rate('images_http_requests_total', 'status') },
        },
        {
          title: 'Time to answer, successful answers',
          description: 'Seconds until an answer with a picture or a 304.',
          unit: 's',
          queries: {
            '50 %': quantile(0.5, 'images_http_request_duration_seconds', '', 'status=~"200|304"'),
            '99 %': quantile(0.99, 'images_http_request_duration_seconds', '', 'status=~"200|304"'),
          },
        },
      ],
    },
    {
      title: 'Cache and drawing',
      panels: [
        {
          title: 'Requests by what the cache had',
          description:
            'Requests for a picture a second. "hit": the cache had it. "joined": it was being made already. "miss": the service read it from the database and drew it if necessary.',
          unit: 'reqps',
          queries: { '{{result}}': rate('images_cache_requests_total', 'result') },
        },
        {
          title: 'Size of the cache',
          description:
            'Bytes that the pictures take, by pod. At its limit, the cache drops the pictures that were not used for the longest time.',
          unit: 'bytes',
          queries: { '{{instance}}': sum('images_cache_size_bytes', 'instance') },
        },
        {
          title: 'Pictures in the cache',
          description: 'Number of pictures that the cache holds, by pod.',
          unit: 'short',
          queries: { '{{instance}}': sum('images_cache_entries', 'instance') },
        },
        {
          title: 'Work by kind',
          description:
            'Work of the worker processes a second. "ingest": a new file was checked. "render": a picture was drawn.',
          unit: 'ops',
          queries: { '{{work}}': rate('images_work_duration_seconds_count', 'work') },
        },
        {
          title: 'Time of work',
          description: '99th percentile of the seconds until a worker was done, with the wait for a worker.',
          unit: 's',
          queries: { '{{work}}': quantile(0.99, 'images_work_duration_seconds', 'work') },
        },
        {
          title: 'Failures of work',
          description:
            'Work that failed, a minute. "refused": the file is not acceptable, and the import says why. "killed": it took more than 2 s or 256 MB. "too_busy": no worker was free in time.',
          unit: 'short',
          queries: { '{{work}} {{reason}}': `60 * ${rate('images_work_failures_total', 'work, reason')}` },
        },
        {
          title: 'Sweeps',
          description:
            'Sweeps of images that no record names, in the last day, by result. One a day is expected.',
          unit: 'short',
          queries: {
            '{{result}}': 'sum by (result) (increase(images_sweeps_total{namespace=~"$namespace"}[1d]))',
          },
        },
      ],
    },
    mongoRow('images'),
    processRow('images'),
  ],
};

export const dashboards: Dashboard[] = [overview, quota, gateway, images, backends];
