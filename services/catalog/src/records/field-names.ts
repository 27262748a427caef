/** A field as records name it: "percentFrom52WeekLow" is "percent_from_52_week_low". */
export function recordFieldName(name: string): string {
  return name.replace(/[A-Z]|\d+/g, (match) => `_${match.toLowerCase()}`);
}
