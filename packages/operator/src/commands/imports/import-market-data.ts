import { Source } from '@brand-data/contracts';
import {
  importQuotes,
  MARKET_DATA_FIELDS,
  micOfVenue,
  readCurrency,
  readMarketData,
  readRates,
} from '@brand-data/importers';
import { collected, reader } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { wrapped } from '../../text/tables.ts';
import {
  dateOrderOption,
  ENCODING_OPTION,
  HEADING_LINE_OPTION,
  MEMORY_OPTION,
  noBytes,
  readDate,
  reportedImport,
  sourceCommand,
} from './reported-import.ts';

export function importMarketDataCommand(context: Context) {
  const description = 'Import prices and market values of listed companies from a .csv or .ndjson file';
  return sourceCommand('market-data', description, 'market-data')
    .argument('<file>', 'the file to read; it may be compressed')
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
    .option(...HEADING_LINE_OPTION)
    .option(...ENCODING_OPTION)
    .option('--decimal-comma', 'read numbers with a decimal comma, such as 1.234,5')
    .addOption(dateOrderOption())
    .option(...MEMORY_OPTION)
    .option('--currency <code>', 'use this currency (ISO 4217) for rows without a currency', readCurrencyCode)
    .option('--exchange <mic>', 'use this exchange (ISO 10383) for rows without an exchange', readVenue)
    .option('--origin <name>', 'state that the figures come from here (default: the name of the source)')
    .option('--url <url>', 'state the URL of the origin')
    .option('--licence <text>', 'state the licence of the origin')
    .option('--date <date>', 'use this date (YYYY-MM-DD) for rows without a date', readDate)
    .addHelpText('after', `\n${wrapped(`Fields: ${MARKET_DATA_FIELDS.join(', ')}.`)}`)
    .action(async (file, options) => {
      const { source, rates, origin = source, url = '', licence = '', date = '' } = options;
      const bytes = noBytes();
      const missingRates = new Map<string, number>();
      const quotes = readMarketData(context.pathOf(file), {
        map: options.map ?? [],
        rates: await readRates(options.usd ?? [], rates === undefined ? undefined : context.pathOf(rates)),
        headingLine: options.headingLine,
        encoding: options.encoding,
        decimalComma: options.decimalComma ?? false,
        dateOrder: options.dateOrder,
        currency: options.currency,
        memoryMib: options.memory,
        exchange: options.exchange,
        source: Source.fromPartial({ name: origin, url, licence, date, fields: ['stock'] }),
        progress: bytes,
        onMissingRate: (currency) => missingRates.set(currency, (missingRates.get(currency) ?? 0) + 1),
      });
      await reportedImport(
        context,
        options,
        bytes,
        (run) => importQuotes(context.catalog(), quotes, run),
        () => ({ missing_rates: Object.fromEntries(missingRates) }),
      );
    });
}

const readCurrencyCode = reader(
  'Write a currency code of three letters (ISO 4217), such as USD.',
  (text) => readCurrency(text) && text,
);

const readVenue = reader('Write a market identifier code (ISO 10383), such as XNAS.', micOfVenue);
