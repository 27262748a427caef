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
