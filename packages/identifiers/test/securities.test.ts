import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSecurityName, type SecurityType, typeOfSecurity, typeOfTicker } from '../src/index.ts';

describe('the name of a security is read into the company and what the security is', () => {
  test.each<[name: string, company: string, type: SecurityType | undefined]>([
    ['Alphabet Inc. Class A Common Stock', 'Alphabet Inc.', 'share'],
    ['Alphabet Inc. Class C Capital Stock', 'Alphabet Inc.', 'share'],
    ['Alphabet Inc. (Class A)', 'Alphabet Inc.', 'share'],
    ['Rush Enterprises Inc. Common Stock Cl A', 'Rush Enterprises Inc.', 'share'],
    ['Rush Enterprises Inc. Class B', 'Rush Enterprises Inc.', 'share'],
    ['Central Garden & Pet Company Class A Common Stock Nonvoting', 'Central Garden & Pet Company', 'share'],
    ['EZCORP Inc. Class A Non Voting Common Stock', 'EZCORP Inc.', 'share'],
    [
      "Canterbury Park Holding Corporation 'New' Common Stock",
      'Canterbury Park Holding Corporation',
      'share',
    ],
    ['Berkshire Hathaway Inc. New Common Stock', 'Berkshire Hathaway Inc.', 'share'],
    ['Charter Communications Inc. Class A Common Stock New', 'Charter Communications Inc.', 'share'],
    [
      'Liberty Media Corporation Series A Liberty Formula One Common Stock',
      'Liberty Media Corporation',
      'share',
    ],
    ['Synaptics Incorporated Common Stock $0.001 Par Value', 'Synaptics Incorporated', 'share'],
    ['Cisco Systems Inc. Common Stock (DE)', 'Cisco Systems Inc.', 'share'],
    ['Aemetis Inc. (DE) Common Stock', 'Aemetis Inc.', 'share'],
    ['Acacia Research Corporation (Acacia Tech) Common Stock', 'Acacia Research Corporation', 'share'],
    ["Wendy's Company (The) Common Stock", "The Wendy's Company", 'share'],
    ['Hackett Group Inc (The). Common Stock', 'The Hackett Group Inc', 'share'],
    ['Shopify Inc. Class A Subordinate Voting Shares', 'Shopify Inc.', 'share'],
    ['BRP Inc. Common Subordinate Voting Shares', 'BRP Inc.', 'share'],
    [
      'Diversified Healthcare Trust Common Shares of Beneficial Interest',
      'Diversified Healthcare Trust',
      'share',
    ],
    ['ASML Holding N.V. New York Registry Shares', 'ASML Holding N.V.', 'share'],
    [
      'Plains GP Holdings L.P. Class A Units representing Limited Partner Interests',
      'Plains GP Holdings L.P.',
      'share',
    ],
    ['AllianceBernstein Holding L.P.  Units', 'AllianceBernstein Holding L.P.', 'share'],
    ['Preferred Bank Common Stock', 'Preferred Bank', 'share'],
    ['Unit Corporation Common Stock', 'Unit Corporation', 'share'],
    ['10x Genomics Inc. Class A Common Stock', '10x Genomics Inc.', 'share'],
    ['Apple Inc. - Common Stock', 'Apple Inc.', 'share'],
    ['UBS Group AG Registered Ordinary Shares', 'UBS Group AG', 'share'],
    ['Alphabet Inc - Class C', 'Alphabet Inc', 'share'],
    ['Atlas Copco AB ser. B', 'Atlas Copco AB', 'share'],
    ['Koninklijke Philips N.V. NY Registry Shares', 'Koninklijke Philips N.V.', 'share'],
    ['Brookfield Corporation Class A Limited Voting Shares', 'Brookfield Corporation', 'share'],
    [
      'Lions Gate Entertainment Corporation Class B Non-Voting Shares',
      'Lions Gate Entertainment Corporation',
      'share',
    ],
    ['U-Haul Holding Company Series N Non-Voting Common Stock', 'U-Haul Holding Company', 'share'],
    [
      'Brookfield Infrastructure Partners LP Limited Partnership Units',
      'Brookfield Infrastructure Partners LP',
      'share',
    ],
    [
      'Global Partners LP Global Partners LP Common Units representing Limited Partner Interests',
      'Global Partners LP',
      'share',
    ],
    ['Marine Petroleum Trust Units of Beneficial Interest', 'Marine Petroleum Trust', 'share'],
    ['Duke Energy Corporation (Holding Company) Common Stock', 'Duke Energy Corporation', 'share'],
    ['Bank of Nova Scotia (The) Common Stock', 'The Bank of Nova Scotia', 'share'],
    ['STERIS plc (Ireland) Ordinary Shares', 'STERIS plc', 'share'],
    ['VODAFONE GROUP PLC ORD USD0.20 20/21', 'VODAFONE GROUP PLC', 'share'],
    [
      'Flaherty & Crumrine Preferred Securities Income Fund Inc. Common Stock',
      'Flaherty & Crumrine Preferred Securities Income Fund Inc.',
      'share',
    ],
    [
      'Franklin Senior Floating Rate Bond Fund Common Stock',
      'Franklin Senior Floating Rate Bond Fund',
      'share',
    ],
    ['Banco Santander S.A. Sponsored ADR (Spain)', 'Banco Santander S.A.', 'receipt'],
    [
      'Sony Group Corporation American Depositary Shares (Each Representing One Share of Dollar Validated Common Stock)',
      'Sony Group Corporation',
      'receipt',
    ],
    [
      'Companhia Paranaense de Energia (COPEL) American Depositary Shares (each representing one Unit)',
      'Companhia Paranaense de Energia (COPEL)',
      'receipt',
    ],
    ['Citigroup Inc. Dep Shs Repstg 1/1000 Pfd Ser J Fixed/Fltg', 'Citigroup Inc.', 'preferred'],
    ['MetLife Inc. Preferred Series A Floating Rate', 'MetLife Inc.', 'preferred'],
    [
      'Public Storage Depositary Shares Each Representing 1/1000 of a 4.7% Preferred Share',
      'Public Storage',
      'preferred',
    ],
    [
      'Ares Acquisition Corporation II Units, each consisting of one Class A ordinary share and one warrant',
      'Ares Acquisition Corporation II',
      'unit',
    ],
    [
      'Gabelli Multi-Media Trust Inc. (The) Rights (expiring July 2026)',
      'The Gabelli Multi-Media Trust Inc.',
      'right',
    ],
    [
      'Entergy Arkansas LLC First Mortgage Bonds 4.875% Series Due September 1 2066',
      'Entergy Arkansas LLC First',
      'note',
    ],
    ['Tennessee Valley Authority PARRS D due 6/1/2028', 'Tennessee Valley Authority PARRS D', 'note'],
    [
      'MicroSectors FANG+ Index 3X Leveraged ETNs due January 8 2038',
      'MicroSectors FANG+ Index 3X Leveraged ETNs due January 8 2038',
      'fund',
    ],
    ['GFH Financial Group BSC', 'GFH Financial Group BSC', undefined],
    ['Merck Ltd. (Thailand)', 'Merck Ltd. (Thailand)', undefined],
    ['SAP SE ADS', 'SAP SE', 'receipt'],
    ['GDS Holdings Limited ADS', 'GDS Holdings Limited', 'receipt'],
    ['Pharming Group N.V. ADS each representing 10 ordinary shares', 'Pharming Group N.V.', 'receipt'],
    ['Vodafone Group Plc American Depositary Shares', 'Vodafone Group Plc', 'receipt'],
    ['Petroleo Brasileiro S.A. Petrobras Sponsored ADR', 'Petroleo Brasileiro S.A. Petrobras', 'receipt'],
    ['CHS Inc Preferred Class B Series 2 Reset Rate', 'CHS Inc', 'preferred'],
    ['Cadiz Inc. Depositary Shares', 'Cadiz Inc.', 'preferred'],
    ['Hovnanian Enterprises Inc Dep Shr Srs A Pfd', 'Hovnanian Enterprises Inc', 'preferred'],
    [
      'Opendoor Technologies Inc Series A Warrants each whole warrant',
      'Opendoor Technologies Inc',
      'warrant',
    ],
    [
      'Presidio Property Trust Inc. Series A Common Stock Purchase Warrants',
      'Presidio Property Trust Inc.',
      'warrant',
    ],
    [
      'Polestar Automotive Holding UK PLC Class C-1 ADS (ADW)',
      'Polestar Automotive Holding UK PLC',
      'warrant',
    ],
    ['CYBERGUN BSA K2A', 'CYBERGUN', 'warrant'],
    ['Gen Digital Inc. Contingent Value Rights', 'Gen Digital Inc.', 'right'],
    ['METALLICA RTS 13APR', 'METALLICA', 'right'],
    ['Blue Water Acquisition Corp. III Unit.', 'Blue Water Acquisition Corp. III', 'unit'],
    ['T-Mobile US Inc. 6.250% Senior Notes due 2069', 'T-Mobile US Inc. 6.250%', 'note'],
    ['Bollore SA 2% SNR BDS 25/01/2022 EUR100000', 'Bollore SA', 'note'],
    ['CASA2.85%27APR26', 'CASA2.8', 'note'],
    ['AIR 28/10/2022 4.25% - Air New', 'AIR', 'note'],
    ['TRA 30/09/2021 5.5% Turners Aut', 'TRA', 'note'],
    ['EB OE TL.Z./PFEIFFER VACUUM', 'EB', 'certificate'],
    ['CAC40 4500C  1223S', 'CAC40', 'certificate'],
    ['Shinhan DJIA Futures ETN(H)', 'Shinhan DJIA Futures ETN(H)', 'fund'],
    ['LS -2X TESLA', 'LS -2X TESLA', 'fund'],
    ['SPDR GOLD TRUST', 'SPDR GOLD TRUST', 'fund'],
    ['Etn. Fr. Colruyt NV', 'Etn. Fr. Colruyt NV', undefined],
    ['NYSE Tick Pilot Test Sym-Control', 'NYSE Tick Pilot Test Sym-Control', 'test'],
    ['Aehr Test Systems', 'Aehr Test Systems', undefined],
    ['Scottish Mortgage Investment Trust PLC', 'Scottish Mortgage Investment Trust PLC', undefined],
    ['Blackstone Secured Lending Fund', 'Blackstone Secured Lending Fund', undefined],
    ['Commonwealth Bank of Australia', 'Commonwealth Bank of Australia', undefined],
    ['ARTS OPT.INTL HLDGS HD-10', 'ARTS OPT.INTL HLDGS HD-10', undefined],
    ['Autozi Internet Technology (Global) Ltd.', 'Autozi Internet Technology (Global) Ltd.', undefined],
    ['Digital Turbine', 'Digital Turbine', undefined],
  ])('%s', (name, company, type) => {
    expect(readSecurityName(name)).toEqual({ company, type });
  });

  test('the company’s name is never empty', () => {
    const word = fc.constantFrom(
      'Acme',
      'Class',
      'A',
      'Units',
      'Common',
      'Stock',
      'New',
      '(The)',
      'Inc.',
      'ADS',
    );
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 7 }), (words) => {
        const { company } = readSecurityName(words.join(' '));
        expect(company).not.toBe('');
      }),
    );
  });
});

test.each<[ticker: string, mic: string, type: SecurityType | undefined]>([
  ['GOOGL', 'XNAS', undefined],
  ['CMCSA', 'XNAS', undefined],
  ['UONEK', 'XNAS', undefined],
  ['AACIW', 'XNAS', 'warrant'],
  ['AACIU', 'XNGS', 'unit'],
  ['BACCR', 'XNAS', 'right'],
  ['AGNCP', 'XNAS', 'preferred'],
  ['GAINZ', 'XNAS', 'note'],
  ['BRK-B', 'XNYS', undefined],
  ['BRK/B', 'XNYS', undefined],
  ['PBR-A', 'XNYS', undefined],
  ['BAC-PL', 'XNYS', 'preferred'],
  ['BAC.PRL', 'XNYS', 'preferred'],
  ['ABR^D', 'XNYS', 'preferred'],
  ['AAC/WS', 'XNYS', 'warrant'],
  ['AAC.U', 'XNYS', 'unit'],
  ['AAC-WI', 'XNYS', undefined],
  ['BMO-PB', 'XTSE', 'preferred'],
  ['REI-UN', 'XTSE', undefined],
  ['TOU-WT', 'XTSE', 'warrant'],
  ['CGX-DBB', 'XTSE', 'note'],
  ['CBA', 'XASX', undefined],
  ['CBAPH', 'XASX', 'note'],
  ['NABHA', 'XASX', 'note'],
  ['SYARD', 'XASX', 'right'],
  ['NWSLV', 'XASX', undefined],
  ['GSBI28', 'XASX', 'note'],
  ['0005', 'XHKG', undefined],
  ['9988', 'XHKG', undefined],
  ['6030', 'XHKG', undefined],
  ['13168', 'XHKG', 'warrant'],
  ['52416', 'XHKG', 'certificate'],
  ['4604', 'XHKG', 'preferred'],
  ['2800', 'XHKG', 'fund'],
  ['005930', 'XKRX', undefined],
  ['900140', 'XKRX', undefined],
  ['005935', 'XKRX', 'preferred'],
  ['00279K', 'XKRX', 'preferred'],
  ['52G221', 'XKRX', 'warrant'],
  ['500020', 'XKRX', 'note'],
  ['6758', 'XTKS', undefined],
  ['25935', 'XTKS', 'preferred'],
  ['ACA', 'XPAR', undefined],
  ['ALI2S', 'XPAR', undefined],
  ['NEOEN', 'XPAR', undefined],
  ['CGGBS', 'XPAR', 'warrant'],
  ['AT0000A2MG43', 'XWBO', 'certificate'],
  ['OMV', 'XWBO', undefined],
  ['J766S', 'XPAR', 'certificate'],
  ['1120', 'XSAU', undefined],
  ['60402', 'XSAU', 'right'],
  ['PETR4', 'BVMF', undefined],
  ['BPAC11', 'BVMF', undefined],
  ['ITSA1', 'BVMF', 'right'],
  ['AAPL34', 'BVMF', 'receipt'],
  ['600519', 'XSHG', undefined],
  ['113044', 'XSHG', 'note'],
  ['000858', 'XSHE', undefined],
  ['123120', 'XSHE', 'note'],
  ['VOLV-B', 'XSTO', undefined],
  ['SAGA-PREF', 'XSTO', 'preferred'],
  ['AZT-TR', 'XSTO', 'right'],
  ['2330', 'XTAI', undefined],
  ['2881A', 'XTAI', 'preferred'],
  ['0050', 'XTAI', 'fund'],
  ['910322', 'ROCO', 'receipt'],
  ['53471', 'ROCO', 'note'],
  ['PTT-R', 'XBKK', 'receipt'],
  ['VOW3', 'XETR', undefined],
  ['LLPC', 'XLON', undefined],
  ['AV-B', 'XLON', 'preferred'],
  ['RE.B', 'XLON', 'preferred'],
  ['BT-A', 'XLON', undefined],
])('the form of the ticker %s at %s says: %s', (ticker, mic, type) => {
  expect(typeOfTicker(ticker, mic)).toBe(type);
});

test('a stated type goes before the name, and the name before the form of the ticker', () => {
  const facts = { name: 'Acme Corp. Class W Common Stock', ticker: 'ACMEW', mic: 'XNAS' };
  expect(typeOfSecurity(facts)).toBe('share');
  expect(typeOfSecurity({ ...facts, name: 'Acme Corp.' })).toBe('warrant');
  expect(typeOfSecurity({ ...facts, stated: 'ETP' })).toBe('fund');
  expect(typeOfSecurity({ ...facts, stated: 'Preference' })).toBe('preferred');
  expect(typeOfSecurity({ ...facts, stated: 'unclear' })).toBe('share');
  expect(typeOfSecurity({ ...facts, stated: 'Test Issue' })).toBe('test');
  expect(typeOfSecurity({ ...facts, stated: 'Note Corp. - Common Stock' })).toBe('share');
  expect(typeOfSecurity({ ...facts, stated: 'Acme Trust - Units of Beneficial Interest' })).toBe('share');
  expect(typeOfSecurity({ ...facts, stated: 'Corp' })).toBe('note');
});

test.each<[name: string, stated: string, type: SecurityType]>([
  ['INVESCO QQQ TR', 'UNIT SER 1', 'fund'],
  ['UNITED STS OIL FD LP', 'UNITS', 'fund'],
  ['ENERGY TRANSFER L P', 'COM UT LTD PTN', 'share'],
])('%s, which is stated as "%s", is a %s', (name, stated, type) => {
  expect(typeOfSecurity({ name, stated })).toBe(type);
});

test.each<[stated: string, type: SecurityType | undefined]>([
  ['EXCHANGE_TRADED_FUND', 'fund'],
  ['ETFs/ ETNs', 'fund'],
  ['Mutual Funds', 'fund'],
  ['INDEX', 'fund'],
  ['Money Market', 'fund'],
  ['Closed-End Fund', 'share'],
  ['Cash Collateral and Margins', 'note'],
  ['Debt Securities', 'note'],
  ['Anleihe', 'note'],
  ['Futures', 'certificate'],
  ['COMMON EQUITIES FORWARD', 'certificate'],
  ['Zertifikat', 'certificate'],
  ['Optionsschein', 'warrant'],
  ['Dividend Right Cert', 'share'],
  ['우선주', 'preferred'],
  ['Common Equities', 'share'],
  ['COM UNIT', 'share'],
  ['LP INT UNIT', 'share'],
  ['UNIT LTD L P', 'share'],
  ['UNIT LTD PARTNR', 'share'],
  ['UNIT BEN INT', 'share'],
  ['UNIT', 'unit'],
  ['Cash Equity', 'share'],
  ['REIT, Venture Funds, Country Funds and Infrastructure Funds', 'share'],
  ['Closed-ended investment funds', 'share'],
  ['Common Stock (optionable: options)', 'share'],
  ['Common Stock w/ Rights', 'share'],
  ['Common Stock Purchase Warrants', 'warrant'],
  ['Shares etc.', 'share'],
  ['Stocks, ETFs', 'share'],
  ['MUTUALFUND', 'fund'],
  ['UNIT LTD PARTN', 'share'],
  ['*W EXP 12/31/2027', 'warrant'],
  ['DBCV 2.5% 6/1', 'note'],
  ['CL A', undefined],
  ['PUBLIC', undefined],
])('a list that states "%s" says: %s', (stated, type) => {
  expect(typeOfSecurity({ name: 'Acme', ticker: 'ACME', mic: 'XNAS', stated })).toBe(type);
});

test.each(['KIMBELL RTY PARTNERS LP', 'SABINE RTY TR'])(
  'a unit of a partnership or trust is a share: %s',
  (name) => {
    expect(typeOfSecurity({ name, stated: 'UNIT' })).toBe('share');
  },
);

test.each<[name: string, ticker: string, type: SecurityType]>([
  ['Artius II Acquisition Inc - Rights (29/12/2049)', 'AACBR', 'right'],
  ['AA Mission Acquisition Corp - Warrants (01/01/9999)', 'AAM-WS', 'warrant'],
  ['Bank Of America Corp - 6.00% PRF PERPETUAL USD 25', 'BAC-P-B', 'preferred'],
  ['NASDAQ TEST STOCK', 'ZVZZT', 'test'],
  ['Lehman ABS 3.50 3.50% Adjustable Corp Backed Tr Certs GS Cap I', 'JBK', 'certificate'],
  ['VANGUARD INDEX FDS', 'VOO', 'fund'],
  ['Apple Inc', 'AAPL', 'share'],
])('"Stock" and "Equity" say less of %s (%s) than its name and its ticker: %s', (name, ticker, type) => {
  for (const stated of ['Stock', 'equity', 'Shares'])
    expect(typeOfSecurity({ name, ticker, mic: 'XNYS', stated })).toBe(type);
});
