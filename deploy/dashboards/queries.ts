/** PromQL expressions for dashboards. `where` holds label matchers, without braces. */

const within = (where: string) => `{namespace=~"$namespace"${where && `, ${where}`}}`;
const by = (labels: string) => (labels === '' ? 'sum' : `sum by (${labels})`);

export function rate(metric: string, labels = '', where = ''): string {
  return `${by(labels)} (rate(${metric}${within(where)}[$__rate_interval]))`;
}

export function quantile(q: number, metric: string, labels = '', where = ''): string {
  const all = labels === '' ? 'le' : `le, ${labels}`;
  return `histogram_quantile(${q}, ${rate(`${metric}_bucket`, all, where)})`;
}

/** The mean of the values in a histogram. */
export function mean(metric: string, labels = '', where = ''): string {
  return `${rate(`${metric}_sum`, labels, where)} / ${rate(`${metric}_count`, labels, where)}`;
}

export function sum(metric: string, labels = '', where = ''): string {
  return `${by(labels)} (${metric}${within(where)})`;
}

export function most(metric: string, labels: string, where = ''): string {
  return `max by (${labels}) (${metric}${within(where)})`;
}

export function least(metric: string, labels: string, where = ''): string {
  return `min by (${labels}) (${metric}${within(where)})`;
}

/** The expression's value, or 0 if it has no series. */
export function orZero(expr: string): string {
  return `${expr} or vector(0)`;
}

/** The share of the metric's rate that `part` selects, 0 to 1. */
export function share(metric: string, part: string, where = ''): string {
  const both = [where, part].filter(Boolean).join(', ');
  return `(${orZero(rate(metric, '', both))}) / ${rate(metric, '', where)}`;
}
