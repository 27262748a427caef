import { issuerIn } from './issuer-names.ts';
import { NO_DESCRIPTION, NO_FACTS, NO_IDENTIFIERS, type Row } from './rows.ts';

/**
 * Rows with the name, the facts and the identifiers of another company. Nothing in the data shows these errors: POSCO's
 * subsidiaries in Seoul have all the cells of POSCO. We checked each by hand. A row that has another name by now was corrected in
 * the source, so it stays as it is. A row with `hasOwnIdentifiers` keeps them.
 */
const WRONG_NAMES: readonly {
  readonly symbol: string;
  readonly wrong: string;
  readonly right: string;
  readonly hasOwnIdentifiers?: true;
}[] = [
  { symbol: '003670.KS', wrong: 'POSCO', right: 'POSCO Future M Co., Ltd.' },
  { symbol: '004380.KS', wrong: 'THK Co., Ltd.', right: 'Samick THK Co., Ltd.' },
  { symbol: '008110.KS', wrong: 'Samsung C&T Corporation', right: 'Daidong Electronics Co., Ltd.' },
  { symbol: '047050.KS', wrong: 'POSCO', right: 'POSCO International Corporation' },
  { symbol: '058430.KS', wrong: 'POSCO', right: 'POSCO Steeleon Co., Ltd.' },
  { symbol: '1105.HK', wrong: 'News Corporation', right: 'Sing Tao News Corporation Limited' },
  { symbol: '4716.T', wrong: 'Oracle Corporation', right: 'Oracle Corporation Japan' },
  { symbol: '5987.T', wrong: 'ONEX Corporation', right: 'ONEX Corporation (Japan)' },
  { symbol: '616A.BE', wrong: 'DIGINEX LTD', right: 'Eqonex Limited' },
  { symbol: '7184.T', wrong: 'First Bank', right: 'The First Bank of Toyama, Ltd.' },
  { symbol: '9375.T', wrong: 'PetMed Express, Inc.', right: 'Kintetsu World Express, Inc.' },
  { symbol: 'CNW.AX', wrong: 'two', right: 'Cirrus Networks Holdings Limited' },
  { symbol: 'COVH.PA', wrong: 'Covivio', right: 'Covivio Hotels SCA' },
  { symbol: 'DC2.AX', wrong: 'two', right: 'DC Two Limited' },
  { symbol: 'GNM.AX', wrong: 'Northern Minerals Limited', right: 'Great Northern Minerals Limited' },
  { symbol: 'IDT.AX', wrong: 'IDT Corporation Class B', right: 'IDT Australia Limited' },
  { symbol: 'IDFCFIRSTB.NS', wrong: 'First Bank', right: 'IDFC First Bank Limited' },
  { symbol: 'MFSL.NS', wrong: 'X Financial', right: 'Max Financial Services Limited' },
  { symbol: 'PNM.AX', wrong: 'Nickel Mines Limited', right: 'Pacific Nickel Mines Limited' },
  { symbol: 'RHP.AX', wrong: 'RH', right: 'rhipe Limited' },
  { symbol: 'RNO.AX', wrong: 'RH', right: 'Rhinomed Limited' },
  { symbol: 'SANOFI.NS', wrong: 'Sanofi', right: 'Sanofi India Limited' },
  { symbol: 'WHR.MX', wrong: 'Pool Corporation', right: 'Whirlpool Corporation' },
  {
    symbol: 'TGI.BE',
    wrong: 'TETRA TECHS DL-,01',
    right: 'TETRA Technologies, Inc.',
    hasOwnIdentifiers: true,
  },
];

/**
 * Rows with the right name and the ISIN of another company or of a bank's product, which no rule can tell from that of receipts, of
 * a tax haven or of a company that is incorporated abroad. The FIGIs came with the ISIN, unless `hasOwnFigis`. A row that has another
 * ISIN by now was corrected in the source.
 */
const WRONG_ISINS: readonly {
  readonly symbol: string;
  readonly isin: string;
  readonly hasOwnFigis?: true;
}[] = [
  { symbol: '0763.HK', isin: 'NLJPMSP0MIY6' },
  { symbol: '0S10.L', isin: 'GB00BND88V85' },
  { symbol: '2013.HK', isin: 'CH1226772684', hasOwnFigis: true },
  { symbol: 'AFW.DE', isin: 'KYG0405D1051' },
  { symbol: 'CARP.PA', isin: 'JE00BP2PWW32' },
  { symbol: 'CLCO.L', isin: 'BMG2415A1137' },
  { symbol: 'CNB.AX', isin: 'US34960Q1094' },
  { symbol: 'CSN.L', isin: 'US2254011081' },
  { symbol: 'CSW.BE', isin: 'LU1681044720' },
  { symbol: 'GNE.PA', isin: 'CA73689L2075', hasOwnFigis: true },
  { symbol: 'GRID.L', isin: 'IE000J80JTL1' },
  { symbol: 'KLR.AX', isin: 'US4833792025' },
  { symbol: 'LEV.BE', isin: 'CA5362211040' },
  { symbol: 'LHL.BE', isin: 'CH1197371516', hasOwnFigis: true },
  { symbol: 'MHL.BE', isin: 'SGXE13155820' },
  { symbol: 'MTU.L', isin: 'CA5635081006' },
  { symbol: 'NWS.AX', isin: 'BMG8196H1280' },
  { symbol: 'NWSLV.AX', isin: 'BMG8196H1280' },
  { symbol: 'SAGA.L', isin: 'NO0010572589' },
  { symbol: 'SHO.BE', isin: 'PLSHPR000021' },
  { symbol: 'STEM.L', isin: 'US85859N1028' },
  { symbol: 'XPO.PA', isin: 'US9837931008' },
];

const WRONG_NAME_OF = new Map(WRONG_NAMES.map((error) => [error.symbol, error]));
const WRONG_ISIN_OF = new Map(WRONG_ISINS.map((error) => [error.symbol, error]));

/**
 * Returns the row with its company's name, and without the facts and identifiers of the other company. All other rows are
 * unchanged.
 */
export function withoutKnownError(row: Row): Row {
  const named = WRONG_NAME_OF.get(row.symbol);
  if (named !== undefined && named.wrong === row.name) {
    const name = named.right;
    const identifiers = named.hasOwnIdentifiers ? {} : NO_IDENTIFIERS;
    return { ...row, ...identifiers, ...NO_DESCRIPTION, ...NO_FACTS, name, issuer: issuerIn(name) };
  }
  const identified = WRONG_ISIN_OF.get(row.symbol);
  if (identified === undefined || identified.isin !== row.isin) return row;
  return identified.hasOwnFigis ? { ...row, isin: '', cusip: '' } : { ...row, ...NO_IDENTIFIERS };
}
