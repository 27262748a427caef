/** Units such as pence, cents and agorot, with their currency. A hundred units are one unit of the currency. */
const HUNDREDTHS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    GBP: 'GBp GBX',
    ZAR: 'ZAc ZAC ZAX',
    ILS: 'ILA ILa ILX',
    USD: 'USX USc',
    EUR: 'EUX',
  }).flatMap(([currency, units]) => units.split(' ').map((unit) => [unit, currency] as const)),
);

/** Returns the ISO 4217 currency that a text means, and how many of the text's units make one. Undefined if it means none. */
export function readCurrency(text: string): { currency: string; units: number } | undefined {
  const whole = HUNDREDTHS.get(text.trim());
  if (whole !== undefined) return { currency: whole, units: 100 };
  const currency = text.trim().toUpperCase();
  return /^[A-Z]{3}$/.test(currency) ? { currency, units: 1 } : undefined;
}

/** Returns a figure of a table in the whole currency, without the extra digits that binary fractions add. */
export function inWhole(figure: number, units: number): number {
  return Number((figure / units).toFixed(10));
}
