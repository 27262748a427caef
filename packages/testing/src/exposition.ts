import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** A metric as a service serves it. */
export interface ServedMetric {
  name: string;
  help: string;
  type: string;
  samples: { name: string; labels: Record<string, string>; value: number }[];
}

/** Reads Prometheus' text format. */
export function readExposition(text: string): ServedMetric[] {
  const metrics = new Map<string, ServedMetric>();
  const metricOf = (name: string) => {
    const known = metrics.get(name) ?? { name, help: '', type: '', samples: [] };
    metrics.set(name, known);
    return known;
  };
  for (const line of text.split('\n')) {
    const [, about, described = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (about === 'HELP') metricOf(described).help = rest;
    if (about === 'TYPE') metricOf(described).type = rest;
    const [, name, labels = '', value] = /^([a-z]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const base = name.replace(/_(bucket|sum|count)$/, '');
    const metric = metrics.get(name) ?? metricOf(base);
    metric.samples.push({ name, labels: labelsOf(labels), value: Number(value) });
  }
  return [...metrics.values()];
}

function labelsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** A scrape asks NATS and MongoDB too, which may be away. */
const ANSWERED_WITHIN_MS = 15_000;

/**
 * Resolves to what Prometheus gets. Each scrape has a connection of its own, because on a busy machine a service may close one that
 * the client is about to use again.
 */
export async function scrape(opsUrl: string): Promise<string> {
  const request = get(`${opsUrl}/metrics`, { agent: false, signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return text(response);
}

/**
 * Reads a service's metrics. Resolves to the sum of one of them over the labels that are not named. 0: the service does not answer,
 * or has it not.
 *
 * @param opsUrl of the service's operations port
 */
export async function metricAt(
  opsUrl: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const page = await scrape(opsUrl).catch(() => '');
  return readExposition(page)
    .flatMap(({ samples }) => samples)
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
