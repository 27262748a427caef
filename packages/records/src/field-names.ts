/** Fields whose names differ by more than their case. A record's name is that of the picture, a Brand's that of its path. */
const PATHS: ReadonlyMap<string, string> = new Map([
  ['bannerPath', 'banner'],
  ['exchangeLogoPath', 'exchange_logo'],
  ['logoPath', 'logo'],
]);
/** Omits `logo`, because a record's `logo` is a path only in `manager`. brandFromRecord renames it there. */
const BRAND_FIELDS: ReadonlyMap<string, string> = new Map(
  [...PATHS].flatMap(([brandField, field]) => (field === 'logo' ? [] : [[field, brandField] as const])),
);

/** Converts the name of a Brand's field into its name in records: "percentFrom52WeekLow" is "percent_from_52_week_low". */
export const recordFieldName = cached(
  (name) => PATHS.get(name) ?? name.replace(/[A-Z]|\d+/g, (match) => `_${match.toLowerCase()}`),
);

/** Converts the name of a record's field into its name in a Brand. */
export const brandFieldName = cached(
  (name) => BRAND_FIELDS.get(name) ?? name.replace(/_([a-z0-9])/g, (_, first: string) => first.toUpperCase()),
);

/** Caches the results. The cache is bounded by the number of fields, because records with unknown fields are refused before. */
function cached(rename: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    let result = known.get(name);
    if (result === undefined) {
      result = rename(name);
      known.set(name, result);
    }
    return result;
  };
}
