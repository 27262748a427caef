import { Source } from '@brand-data/contracts';
import {
  importQuotes,
  MARKET_DATA_FIELDS,
  readCurrency,
  readMarketData,
  readRates,
  readVenue,
} from '@brand-data/importers';
import { collected, reader } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { wrapped } from '../../text/tables.ts';
import { formOf, readDate, reportedImport, tableCommand } from './reported-import.ts';

export function importMarketDataCommand(context: Context) {
  const description = 'Import prices and market values of listed companies from a table: CSV, TSV or JSON';
  return tableCommand('market-data', description, 'market-data')
    .option('--map <column=field,…>', 'fill a field from a column with another name; repeatable', collected)
    .option(
      '--rates <file>',
      'read exchange rates from a table with the columns currency and usd (the value of one unit in US dollars)',
    )
    .option(
      '--usd <EUR=1.08,…>',
      'give the value of one unit in US dollars; overrides --rates; repeatable',
      collected,
    )
    .option('--currency <code>', 'use this currency (ISO 4217) for rows without a currency', readCurrencyCode)
    .option('--exchange <mic>', 'use this exchange (ISO 10383) for rows without an exchange', readExchange)
    .option('--date <date>', 'use this date (YYYY-MM-DD) for rows without a date', readDate)
    .addHelpText('after', `\n${wrapped(`Fields: ${MARKET_DATA_FIELDS.join(', ')}.`)}`)
    .action(async (file, options) => {
      const { source, rates, origin = source, url = '', licence = '', date = '' } = options;
      const form = {
        ...formOf(options),
        map: options.map ?? [],
        rates: await readRates(options.usd ?? [], rates === undefined ? undefined : context.pathOf(rates)),
        currency: options.currency,
        exchange: options.exchange,
        source: Source.fromPartial({ name: origin, url, licence, date, fields: ['stock'] }),
      };
      await reportedImport(context, options, (run, { bytes, figures }) => {
        const missing: Record<string, number> = {};
        figures.missing_rates = missing;
        const onMissingRate = (currency: string) => {
          missing[currency] = (missing[currency] ?? 0) + 1;
        };
        const quotes = readMarketData(context.pathOf(file), { ...form, progress: bytes, onMissingRate });
        return importQuotes(context.catalog(), quotes, run);
      });
    });
}

const readCurrencyCode = reader(
  'Write a currency code of three letters (ISO 4217), such as USD.',
  (text) => readCurrency(text) && text,
);

const readExchange = reader('Write a market identifier code (ISO 10383), such as XNAS.', (text) => {
  const mic = readVenue(text);
  return typeof mic === 'string' ? mic : undefined;
});
