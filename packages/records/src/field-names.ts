/** Fields whose names differ by more than their case: a record names the picture, a Brand its path. */
const PATHS: ReadonlyMap<string, string> = new Map([
  ['bannerPath', 'banner'],
  ['exchangeLogoPath', 'exchange_logo'],
  ['logoPath', 'logo'],
]);
/** A record's `logo` is a path in `manager` alone: brandFromRecord renames it there. */
const BRAND_FIELDS: ReadonlyMap<string, string> = new Map(
  [...PATHS].flatMap(([brandField, field]) => (field === 'logo' ? [] : [[field, brandField] as const])),
);

/** The name in records of a Brand's field: "percent_from_52_week_low" for "percentFrom52WeekLow". */
export const recordFieldName = cached(
  (name) => PATHS.get(name) ?? name.replace(/[A-Z]|\d+/g, (match) => `_${match.toLowerCase()}`),
);

/** The name in a Brand of a record's field. */
export const brandFieldName = cached(
  (name) => BRAND_FIELDS.get(name) ?? name.replace(/_([a-z0-9])/g, (_, first: string) => first.toUpperCase()),
);

/** Caches the results. There are only as many names as fields: records with other names were refused before. */
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
