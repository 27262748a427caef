import { readNumber } from '../../formats/cells.ts';
import { openTable } from '../../formats/table.ts';
import { OptionError } from '../../framework/source-items.ts';

/** The value of one unit of each currency in US dollars, by the currency's code. */
export type Rates = ReadonlyMap<string, number>;

const CODE_COLUMNS = ['currency', 'code', 'symbol'];
const RATE_COLUMNS = ['usd', 'rate'];

/**
 * Returns the rates in texts such as "EUR=1.08,GBP=1.27", and in a table with the columns `currency` and `usd`. If both give a
 * currency's rate, that of the text is used. A rate is the value of one unit in US dollars. Throws an OptionError if a rate is
 * malformed.
 */
export async function readRates(given: readonly string[], file: string | undefined): Promise<Rates> {
  const rates = new Map([['USD', 1]]);
  if (file !== undefined) for await (const [code, usd] of ratesOfTable(file)) set(rates, code, usd);
  for (const part of given.flatMap((text) => text.split(','))) {
    const [code = '', usd = ''] = part.split('=');
    set(rates, code, usd);
  }
  return rates;
}

function set(rates: Map<string, number>, code: string, usd: string): void {
  const currency = code.trim().toUpperCase();
  const rate = readNumber(usd);
  if (!/^[A-Z]{3}$/.test(currency) || rate === undefined || rate <= 0)
    throw new OptionError(
      `"${code}=${usd}" is not an exchange rate: write the value of one unit in US dollars, such as EUR=1.08`,
    );
  rates.set(currency, rate);
}

async function* ratesOfTable(file: string): AsyncGenerator<[code: string, usd: string]> {
  await using table = await openTable(file);
  const { columns, rows } = table;
  const [code, rate] = [CODE_COLUMNS, RATE_COLUMNS].map((names) =>
    columns.find((column) => names.includes(column.toLowerCase())),
  );
  if (code === undefined || rate === undefined)
    throw new OptionError(
      `${file} must have the columns "currency" and "usd": its columns are ${columns.join(', ')}`,
    );
  for await (const row of rows) {
    if ('problem' in row) throw new OptionError(`${row.from}: ${row.problem}`);
    yield [row.cells.get(code) ?? '', row.cells.get(rate) ?? ''];
  }
}
