import { issuerIn } from './issuer-names.ts';
import ERRORS from './known-errors.json' with { type: 'json' };
import { NO_DESCRIPTION, NO_FACTS, NO_IDENTIFIERS, type Row } from './rows.ts';

/**
 * Rows with the name, the facts and the identifiers of another company. Nothing in the data shows these errors: POSCO's
 * subsidiaries in Seoul have all the cells of POSCO. We checked each by hand. A row that has another name by now was corrected in
 * the source, so it stays as it is. A row with `hasOwnIdentifiers` keeps them.
 */
const WRONG_NAMES: Readonly<Record<string, { wrong: string; right: string; hasOwnIdentifiers?: boolean }>> =
  ERRORS.names;
/**
 * Rows with the right name and the ISIN of another company or of a bank's product, which no rule can tell from that of receipts, of
 * a tax haven or of a company that is incorporated abroad. The FIGIs came with the ISIN, unless `hasOwnFigis`. A row that has another
 * ISIN by now was corrected in the source.
 */
const WRONG_ISINS: Readonly<Record<string, { isin: string; hasOwnFigis?: boolean }>> = ERRORS.isins;

/**
 * Returns the row with its company's name, and without the facts and identifiers of the other company. All other rows are
 * unchanged.
 */
export function withoutKnownError(row: Row): Row {
  const named = WRONG_NAMES[row.symbol];
  if (named !== undefined && named.wrong === row.name) {
    const name = named.right;
    const identifiers = named.hasOwnIdentifiers ? {} : NO_IDENTIFIERS;
    return { ...row, ...identifiers, ...NO_DESCRIPTION, ...NO_FACTS, name, issuer: issuerIn(name) };
  }
  const identified = WRONG_ISINS[row.symbol];
  if (identified === undefined || identified.isin !== row.isin) return row;
  return identified.hasOwnFigis ? { ...row, isin: '', cusip: '' } : { ...row, ...NO_IDENTIFIERS };
}
