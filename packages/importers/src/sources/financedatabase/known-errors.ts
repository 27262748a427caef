import { nameOf } from './issuer-names.ts';
import type { Row } from './rows.ts';

/**
 * Rows with the name, the facts and the identifiers of another company, and the name of the company that has the ticker. Nothing
 * in the data shows these errors: POSCO's subsidiaries in Seoul have all the cells of POSCO. We checked each by hand.
 */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['003670.KS', 'POSCO Future M Co., Ltd.'],
  ['047050.KS', 'POSCO International Corporation'],
  ['058430.KS', 'POSCO Steeleon Co., Ltd.'],
  ['CNW.AX', 'Cirrus Networks Holdings Limited'],
  ['COVH.PA', 'Covivio Hotels SCA'],
  ['DC2.AX', 'DC Two Limited'],
  ['GNM.AX', 'Great Northern Minerals Limited'],
  ['IDT.AX', 'IDT Australia Limited'],
  ['PNM.AX', 'Pacific Nickel Mines Limited'],
  ['RHP.AX', 'rhipe Limited'],
  ['RNO.AX', 'Rhinomed Limited'],
]);

/** The row with its company's name, and without the facts and identifiers of the other company. All other rows are unchanged. */
export function withoutKnownError(row: Row): Row {
  const name = NAMES.get(row.symbol);
  if (name === undefined) return row;
  return {
    ...row,
    name,
    issuer: nameOf(name),
    subject: undefined,
    formers: [],
    summary: '',
    sector: '',
    industryGroup: '',
    industry: '',
    country: '',
    state: '',
    city: '',
    zipcode: '',
    website: '',
    domain: '',
    marketCap: '',
    isin: '',
    cusip: '',
    figi: '',
    compositeFigi: '',
    shareClassFigi: '',
  };
}
