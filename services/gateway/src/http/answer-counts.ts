import { readAtScrape, type Service } from '@brand-data/runtime';
import { Counter, type Histogram, type Registry } from 'prom-client';

const DURATION = {
  name: 'gateway_http_request_duration_seconds',
  help: 'Seconds from a request to its answer, by route and status',
};
/** The buckets' upper bounds, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Answers of one route with one status. */
interface Series {
  readonly labels: { route: string; status: number };
  answers: number;
  /** How many of the timed answers are in each bucket and in none below it. The last one has no bound. */
  readonly inBucket: number[];
  seconds: number;
}

/**
 * Registers the counter and the histogram of answers, which are made from plain numbers at each scrape: the library's histogram takes
 * a fiftieth of the processor time of a call.
 */
export function countAnswers({ metrics }: Pick<Service, 'metrics'>) {
  const byRoute = new Map<string, Map<number, Series>>();
  const seriesOf = (route: string, status: number): Series => {
    let ofRoute = byRoute.get(route);
    if (!ofRoute) {
      ofRoute = new Map();
      byRoute.set(route, ofRoute);
    }
    let series = ofRoute.get(status);
    if (!series) {
      const inBucket = new Array(BOUNDS.length + 1).fill(0);
      series = { labels: { route, status }, answers: 0, inBucket, seconds: 0 };
      ofRoute.set(status, series);
    }
    return series;
  };
  const all = (): Series[] => [...byRoute.values()].flatMap((ofRoute) => [...ofRoute.values()]);
  // These series start at zero. Without them Prometheus would not see the first failure as an increase.
  for (const route of ['brands', 'logos', 'search', 'usage'])
    for (const status of [500, 503]) seriesOf(route, status);

  const requests = {
    name: 'gateway_http_requests_total',
    help: 'Answers to callers, by route and status',
    labelNames: ['route', 'status'],
  };
  readAtScrape(Counter, metrics, requests, () => all().map(({ labels, answers }) => [labels, answers]));
  registerHistogram(metrics, () => all().flatMap(samplesOf));

  return {
    /** @param tookMs undefined: there was no request to measure from */
    add: (route: string, status: number, tookMs?: number) => {
      const series = seriesOf(route, status);
      series.answers += 1;
      if (tookMs === undefined) return;
      const seconds = tookMs / 1_000;
      series.seconds += seconds;
      let bucket = 0;
      while (seconds > (BOUNDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
      series.inBucket[bucket] = (series.inBucket[bucket] ?? 0) + 1;
    },
  };
}

interface Sample {
  metricName: string;
  labels: Record<string, string | number>;
  value: number;
}

/** Returns the series as Prometheus' histograms have it. None, before the first timed answer. */
function samplesOf({ labels, inBucket, seconds }: Series): Sample[] {
  let count = 0;
  const buckets = inBucket.map((answers, bucket) => {
    count += answers;
    return {
      metricName: `${DURATION.name}_bucket`,
      labels: { le: BOUNDS[bucket] ?? '+Inf', ...labels },
      value: count,
    };
  });
  if (count === 0) return [];
  return [
    ...buckets,
    { metricName: `${DURATION.name}_sum`, labels, value: seconds },
    { metricName: `${DURATION.name}_count`, labels, value: count },
  ];
}

/** The registry asks a metric only for its name and its samples, but its type wants one of the library's classes. */
function registerHistogram(metrics: Registry, samples: () => Sample[]): void {
  const get = async () => ({ ...DURATION, type: 'histogram', aggregator: 'sum', values: samples() });
  metrics.registerMetric({ name: DURATION.name, get } as unknown as Histogram);
}
