import type { CatalogDoc } from '../records/catalog-doc.ts';

/**
 * After how many companies a message follows at the latest, if need be without items. A reader whose connection ends goes on after
 * the last message. Without these messages it could start over for ever where few companies have items.
 */
const COMPANIES = 10_000;

/**
 * Gathers items of companies into messages. A message is sent once its items weigh `full`, so `weigh` of a company's items must be
 * far below what fits into a message. A reader may ask for the rest of the stream by `after`, the id of the last company.
 */
export async function* inMessages<T, Message>(
  companies: AsyncIterable<CatalogDoc>,
  read: (company: CatalogDoc) => readonly T[],
  toMessage: (items: T[], after: string) => Message,
  { full, weigh = () => 1 }: { full: number; weigh?: (company: CatalogDoc) => number },
): AsyncGenerator<Message> {
  let items: T[] = [];
  let weight = 0;
  let after = '';
  let scanned = 0;
  for await (const company of companies) {
    const found = read(company);
    items.push(...found);
    weight += found.length === 0 ? 0 : found.length * weigh(company);
    after = company._id;
    scanned++;
    if (weight < full && scanned < COMPANIES) continue;
    yield toMessage(items, after);
    items = [];
    weight = 0;
    scanned = 0;
  }
  if (items.length > 0) yield toMessage(items, after);
}
