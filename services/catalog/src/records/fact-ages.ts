import type { Brand } from '@brand-data/contracts';
import { priceDateOf } from './merge.ts';

const DAY_MS = 86_400_000;

/** How old a source says that some of its facts are. Days are YYYY, YYYY-MM or YYYY-MM-DD. */
interface FactAges {
  /** The first part of the dotted names of the fields: "stock". Empty: all facts that the source dates as one. */
  fields: string;
  records: number;
  /** Those of the records whose source states no day. */
  undated: number;
  newest: string;
  median: string;
}

export interface SourceAges {
  facts: FactAges[];
  /** The newest day of a price. Empty if there is none. */
  newestPrice: string;
}

/** Returns how old the facts of these records of one source are. A quote states figures of a stock alone. */
export function agesOf(records: readonly { brand: Brand; isQuote: boolean }[]): SourceAges {
  const stated = records.flatMap(({ brand, isQuote }) =>
    brand.sources.flatMap(({ fields, date }) =>
      groupsOf(isQuote ? ['stock'] : fields).map((group) => ({ fields: group, date })),
    ),
  );
  const groups = Map.groupBy(stated, ({ fields }) => fields);
  const facts = [...groups.keys()].toSorted().map((fields): FactAges => {
    const all = groups.get(fields) ?? [];
    const dates = all.flatMap(({ date }) => date || []).toSorted();
    const [newest = '', median = ''] = [dates.at(-1), dates[(dates.length - 1) >> 1]];
    return { fields, records: all.length, undated: all.length - dates.length, newest, median };
  });
  const prices = records.map((record) => priceDateOf(record) ?? '').toSorted();
  return { facts, newestPrice: prices.at(-1) ?? '' };
}

function groupsOf(fields: readonly string[]): string[] {
  return fields.length === 0 ? [''] : [...new Set(fields.map((field) => field.split('.', 1)[0] ?? field))];
}

/** Returns the seconds since the beginning of the day. */
export function ageOfDay(day: string, nowMs: number): number {
  return Math.round((nowMs - Date.parse(day)) / 1_000);
}

/**
 * Returns how many trading days have begun since the day: Mondays to Fridays, UTC. Holidays count too, because each exchange has
 * others.
 */
export function tradingDaysSince(day: string, nowMs: number): number {
  return Math.max(0, weekdaysUpTo(nowMs) - weekdaysUpTo(Date.parse(day)));
}

/** Returns the number of weekdays from the Monday before 1970 to this day. */
function weekdaysUpTo(ms: number): number {
  const days = Math.floor(ms / DAY_MS) + 3;
  return Math.floor(days / 7) * 5 + Math.min((days % 7) + 1, 5);
}
