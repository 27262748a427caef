/** What Prometheus would have of a product's counters after some traffic: a simulation, second by second. */

export interface Traffic {
  /** Calls answered in this second. */
  callsAt: (second: number) => number;
  /** Those of them that are never billed. */
  lostAt?: (second: number) => number;
  /** How many seconds later this second's calls are billed. */
  lateAt?: (second: number) => number;
  /** One for each process that there is at some time. */
  gateways: readonly Life[];
  meterings: readonly Life[];
  seconds: number;
}

/** A process; the counts of the last seconds before its end are never read. */
export interface Life {
  name: string;
  from: number;
  /** Excluded. */
  to: number;
  /** Seconds after a multiple of the scrapes' interval. */
  phase: number;
}

const SCRAPED_EVERY_SECONDS = 30;
/** Of promtool's notation of series. */
export const STEP_SECONDS = 5;

/** Series in promtool's notation, one value each `STEP_SECONDS`. */
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

/** Whoever lives does an equal part of the work. */
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
