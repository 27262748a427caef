/** A field's name in records: "percent_from_52_week_low" for "percentFrom52WeekLow". */
export function recordFieldName(name: string): string {
  return name.replace(/[A-Z]|\d+/g, (match) => `_${match.toLowerCase()}`);
}
