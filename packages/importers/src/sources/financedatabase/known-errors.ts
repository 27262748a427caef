import { nameOf } from './issuer-names.ts';
import { NO_DESCRIPTION, NO_FACTS, NO_IDENTIFIERS, type Row } from './rows.ts';

/**
 * Rows with the name, the facts and the identifiers of another company. Nothing in the data shows these errors: POSCO's
 * subsidiaries in Seoul have all the cells of POSCO. We checked each by hand. A row that has another name by now was corrected in
 * the source, so it stays as it is. If only the identifiers are another company's, `right` repeats the name.
 */
const ERRORS: readonly { readonly symbol: string; readonly wrong: string; readonly right: string }[] = [
  { symbol: '003670.KS', wrong: 'POSCO', right: 'POSCO Future M Co., Ltd.' },
  { symbol: '004380.KS', wrong: 'THK Co., Ltd.', right: 'Samick THK Co., Ltd.' },
  { symbol: '008110.KS', wrong: 'Samsung C&T Corporation', right: 'Daidong Electronics Co., Ltd.' },
  { symbol: '047050.KS', wrong: 'POSCO', right: 'POSCO International Corporation' },
  { symbol: '058430.KS', wrong: 'POSCO', right: 'POSCO Steeleon Co., Ltd.' },
  { symbol: '4716.T', wrong: 'Oracle Corporation', right: 'Oracle Corporation Japan' },
  { symbol: '5987.T', wrong: 'ONEX Corporation', right: 'ONEX Corporation (Japan)' },
  { symbol: '7184.T', wrong: 'First Bank', right: 'The First Bank of Toyama, Ltd.' },
  { symbol: '9375.T', wrong: 'PetMed Express, Inc.', right: 'Kintetsu World Express, Inc.' },
  { symbol: 'CNW.AX', wrong: 'two', right: 'Cirrus Networks Holdings Limited' },
  { symbol: 'COVH.PA', wrong: 'Covivio', right: 'Covivio Hotels SCA' },
  { symbol: 'DC2.AX', wrong: 'two', right: 'DC Two Limited' },
  { symbol: 'GNM.AX', wrong: 'Northern Minerals Limited', right: 'Great Northern Minerals Limited' },
  { symbol: 'IDT.AX', wrong: 'IDT Corporation Class B', right: 'IDT Australia Limited' },
  { symbol: 'PNM.AX', wrong: 'Nickel Mines Limited', right: 'Pacific Nickel Mines Limited' },
  { symbol: 'RHP.AX', wrong: 'RH', right: 'rhipe Limited' },
  { symbol: 'RNO.AX', wrong: 'RH', right: 'Rhinomed Limited' },
  { symbol: 'SAGA.L', wrong: 'Saga plc', right: 'Saga plc' },
  { symbol: 'XPO.PA', wrong: 'XPO Logistics Europe SA', right: 'XPO Logistics Europe SA' },
];
const ERROR_OF = new Map(ERRORS.map((error) => [error.symbol, error]));

/** The row with its company's name, and without the facts and identifiers of the other company. All other rows are unchanged. */
export function withoutKnownError(row: Row): Row {
  const error = ERROR_OF.get(row.symbol);
  if (error === undefined || error.wrong !== row.name) return row;
  const name = error.right;
  const unidentified = { ...row, ...NO_IDENTIFIERS };
  if (name === row.name) return unidentified;
  return { ...unidentified, ...NO_DESCRIPTION, ...NO_FACTS, name, issuer: nameOf(name) };
}
