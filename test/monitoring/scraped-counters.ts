/** Simulates, second by second, the values that Prometheus would read from the product's counters during some traffic. */

export interface Traffic {
  /** Calls answered in this second. */
  callsAt: (second: number) => number;
  /** How many of the calls answered in this second are never billed. */
  lostAt?: (second: number) => number;
  /** How many seconds later this second's calls are billed. */
  lateAt?: (second: number) => number;
  /** One for each process that runs at any time. */
  gateways: readonly Life[];
  meterings: readonly Life[];
  seconds: number;
}

/** A process. It also counts calls after its last scrape. Prometheus never reads those. */
export interface Life {
  name: string;
  from: number;
  /** The second of its end, excluded. */
  to: number;
  /** Prometheus reads the process this many seconds after each multiple of the scrape interval. */
  phase: number;
}

const SCRAPED_EVERY_SECONDS = 30;
/** The time between two values of a series in promtool's notation. */
export const STEP_SECONDS = 5;

/** Returns series in promtool's notation, with one value every `STEP_SECONDS`. */
export function scrapedCounters(traffic: Traffic): Record<string, string> {
  const { gateways, meterings, seconds, callsAt, lostAt = () => 0, lateAt = () => 1 } = traffic;
  const answered = Array.from({ length: seconds }, (_, second) => callsAt(second));
  const billed = new Array<number>(seconds).fill(0);
  for (const [second, calls] of answered.entries()) {
    const billedAt = second + lateAt(second);
    if (billedAt < seconds) billed[billedAt] = (billed[billedAt] ?? 0) + calls - lostAt(second);
  }
  return {
    ...countersOf('gateway', gateways, answered, 'gateway_charged_calls_total', ',certainty="answered"'),
    ...countersOf('metering', meterings, billed, 'metering_billed_calls_total', ''),
  };
}

/** The processes that run share the work equally. */
function countersOf(
  service: string,
  lives: readonly Life[],
  work: readonly number[],
  counter: string,
  label: string,
): Record<string, string> {
  const counts = new Map(lives.map((life) => [life, 0]));
  const values = new Map(lives.map((life) => [life, [] as string[]]));
  for (const [second, calls] of work.entries()) {
    const alive = lives.filter(({ from, to }) => second >= from && second < to);
    for (const [index, life] of alive.entries()) {
      const part = Math.floor(calls / alive.length) + (index < calls % alive.length ? 1 : 0);
      counts.set(life, (counts.get(life) ?? 0) + part);
    }
    if (second % STEP_SECONDS !== 0) continue;
    for (const life of lives) {
      const isScrape = second % SCRAPED_EVERY_SECONDS === life.phase;
      const isAlive = alive.includes(life);
      const isGone = second >= life.to && second < life.to + SCRAPED_EVERY_SECONDS;
      const value = isAlive ? String(counts.get(life)) : isGone ? 'stale' : '_';
      values.get(life)?.push(isScrape ? value : '_');
    }
  }
  return Object.fromEntries(
    lives.flatMap((life) => {
      const labels = `{service="${service}",namespace="prod",instance="${life.name}"`;
      const each = values.get(life) ?? [];
      const started = each.map((value) => (/\d/.test(value) ? String(life.from) : value));
      return [
        [`${counter}${labels}${label}}`, each.join(' ')],
        [`process_start_time_seconds${labels}}`, started.join(' ')],
      ];
    }),
  );
}
