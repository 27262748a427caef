import { type Brand, BrandType } from '@brand-data/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Resolution, readIdentifier, resolve } from '../src/index.ts';
import { brand, candidate } from './brands.ts';

const catalogue = [
  brand({
    id: 'apple',
    name: 'Apple',
    names: ['Apple Inc.'],
    rank: 990,
    listings: [
      {
        ticker: 'AAPL',
        mic: 'XNAS',
        isin: 'US0378331005',
        figi: 'BBG000B9XRY4',
        shareClassFigi: 'BBG001S5N8V8',
      },
      'APC@XETR',
      'APC@XFRA',
      'AAPL@XMEX',
    ],
    lei: 'HWUPKR0MPOU8FGXBT394',
    formerly: ['Apple Computer, Inc. (1977–2007)'],
    websites: ['https://www.apple.com/'],
  }),
  brand({
    id: 'mcdonalds',
    name: 'McDonald’s',
    rank: 970,
    listings: ['MCD@XNYS', 'MDO@XETR'],
    websites: ['https://www.mcdonalds.com/', 'https://corporate.mcdonalds.com/'],
  }),
  brand({
    id: 'berkshire-hathaway',
    name: 'Berkshire Hathaway',
    rank: 850,
    listings: ['BRK-B@XNYS', 'BRK-A@XNYS', 'BRYN@XETR'],
    websites: ['https://www.berkshirehathaway.com/'],
  }),
  brand({
    id: 'toyota',
    name: 'Toyota',
    names: ['Toyota Motor Corporation', 'トヨタ自動車株式会社', 'トヨタ'],
    rank: 950,
    listings: ['7203@XTKS', 'TM@XNYS+', 'TYT@XLON'],
    websites: ['https://global.toyota/'],
  }),
  brand({ id: 'toyota-industries', name: 'Toyota Industries Corporation', listings: ['6201@XTKS'] }),
  brand({ id: 'kioxia', name: 'Kioxia', listings: ['285A@XTKS'] }),
  brand({
    id: 'samsung',
    name: '삼성전자',
    names: ['Samsung Electronics'],
    listings: ['005930@XKRX', '005935@XKRX'],
  }),
  brand({ id: 'kakao-games', name: 'Kakao Games', listings: ['293490@XKOS'] }),
  brand({ id: 'tsmc', name: 'TSMC', listings: ['2330@XTAI', 'TSM@XNYS+'] }),
  brand({ id: 'taiwan-top-50', name: 'Taiwan Top 50', listings: ['0050@XTAI'] }),
  brand({ id: 'aramco', name: 'أرامكو السعودية', names: ['Saudi Aramco'], listings: ['2222@XSAU'] }),
  brand({
    id: 'moutai',
    name: '贵州茅台酒股份有限公司',
    names: ['Kweichow Moutai'],
    listings: ['600519@XSHG'],
  }),
  brand({ id: 'america-movil', name: 'América Móvil', listings: ['AMXB@XMEX', 'AMX@XNYS+'] }),
  brand({ id: 'altagas', name: 'AltaGas', listings: ['ALA@XTSE', 'ALA-PA@XTSE'] }),
  brand({ id: 'seven-eleven', name: 'セブン-イレブン' }),
  brand({ id: 'eni', name: 'Eni S.p.A.', listings: ['ENI@XMIL'] }),
  brand({ id: 'carlsberg', name: 'Carlsberg A/S', listings: ['CARL-B@XCSE'] }),
  brand({ id: 'sky', name: 'Sky', rank: 900 }),
  brand({ id: 'scooby', name: 'Scooby', rank: 900 }),
  brand({ id: 'tencent', name: 'Tencent', rank: 880, listings: ['0700@XHKG'] }),
  brand({ id: 'ping-an-bank', name: 'Ping An Bank', listings: ['000001@XSHE'] }),
  brand({ id: 'ck-hutchison', name: 'CK Hutchison', listings: ['0001@XHKG'] }),
  brand({
    id: 'sap',
    name: 'SAP',
    rank: 820,
    listings: ['SAP@XETR', 'SAP@XNYS+', 'SAP@XBER'],
    domains: ['sap.de'],
    websites: ['https://www.sap.com/'],
  }),
  brand({ id: 'royal-bank-of-canada', name: 'Royal Bank of Canada', listings: ['RY@XTSE', 'RY@XNYS+'] }),
  brand({ id: 'bt', name: 'BT Group plc', listings: ['BT-A@XLON'] }),
  brand({ id: 'tesco', name: 'Tesco', rank: 700, listings: ['TSCO@XLON'] }),
  brand({ id: 'tractor-supply', name: 'Tractor Supply', rank: 500, listings: ['TSCO@XNAS'] }),
  brand({ id: 'novo-nordisk', name: 'Novo Nordisk', listings: ['NOVO B@XCSE', 'NVO@XNYS+'] }),
  brand({ id: 'mahindra', name: 'Mahindra & Mahindra', listings: ['M&M@XNSE'] }),
  brand({ id: 'nestle', name: 'Nestlé S.A.', rank: 900, listings: ['NESN@XSWX'] }),
  brand({ id: 'haagen-dazs', name: 'Häagen-Dazs' }),
  brand({ id: 'ben-and-jerrys', name: "Ben & Jerry's" }),
  brand({ id: 'procter-and-gamble', name: 'P&G', names: ['The Procter & Gamble Company'] }),
  brand({ id: 'jpmorgan', name: 'JPMorgan Chase & Co.', names: ['J.P. Morgan'] }),
  brand({ id: 'maersk', name: 'A.P. Møller – Mærsk A/S' }),
  brand({
    id: 'munich-re',
    name: 'Münchener Rückversicherungs-Gesellschaft AG',
    names: ['Münchener Rück'],
    domains: ['münchen-rück.de'],
    websites: ['https://www.munichre.com/en.html'],
  }),
  brand({ id: 'tiffany', name: 'Tiffany & Co.' }),
  brand({ id: 'home-depot', name: 'The Home Depot, Inc.' }),
  brand({ id: 'the-limited', name: 'The Limited' }),
  brand({ id: 'disney-plus', name: 'Disney+' }),
  brand({ id: 'disney', name: 'Disney' }),
  brand({ id: 'alphabet', name: 'Alphabet Inc.', rank: 960 }),
  brand({ id: 'meta', name: 'Meta Platforms, Inc.', formerly: ['Facebook, Inc.'], rank: 940 }),
  brand({ id: 'github', name: 'GitHub', domains: ['github.io'] }),
  brand({ id: 'site-on-github', name: 'Site on GitHub', websites: ['https://site.github.io/'] }),
  brand({ id: 'amazon', name: 'Amazon', rank: 980, websites: ['https://www.amazon.com'] }),
  brand({ id: 'aws', name: 'Amazon Web Services', rank: 700, websites: ['https://aws.amazon.com/'] }),
  brand({
    id: 'warren-buffett',
    name: 'Warren Buffett',
    names: ['Warren E. Buffett'],
    type: BrandType.SUPERINVESTOR,
    manager: 'Warren Buffett',
    firm: 'Berkshire Hathaway',
    websites: ['https://buffett.example.com/'],
  }),
  brand({
    id: 'francois-rochon',
    name: 'François Rochon',
    type: BrandType.SUPERINVESTOR,
    manager: 'François Rochon',
    firm: 'Giverny Capital Inc.',
  }),
];
const candidates = catalogue.map(candidate);
const everywhere = { superinvestors: true };

function found(identifier: string): string | undefined {
  return resolve(identifier, candidates, everywhere)?.id;
}

describe('each of these spellings finds its brand', () => {
  test.each([
    // Tickers
    ['AAPL', 'apple'],
    ['aapl', 'apple'],
    [' AAPL ', 'apple'],
    ['$AAPL', 'apple'],
    ['(NASDAQ: AAPL)', 'apple'],
    ['AAPL US', 'apple'],
    ['AAPL.US', 'apple'],
    ['NMS:AAPL', 'apple'],
    ['Nasdaq Stock Market: AAPL', 'apple'],
    ['AAPL US Equity', 'apple'],
    ['AAPL:US', 'apple'],
    ['NASDAQ:AAPL', 'apple'],
    ['nasdaq: aapl', 'apple'],
    ['XNAS:AAPL', 'apple'],
    ['XNGS:AAPL', 'apple'],
    ['AAPL.MX', 'apple'],
    ['APC.DE', 'apple'],
    ['apc.de', 'apple'],
    ['APC.F', 'apple'],
    ['XETR:APC', 'apple'],
    ['APC:XETR', 'apple'],
    ['ETR:APC', 'apple'],
    ['APC GR', 'apple'],
    ['APC GF', 'apple'],
    ['APC.XETR', 'apple'],
    ['GER:APC', 'apple'],
    ['MEX:AAPL', 'apple'],
    ['AAPL * MM', 'apple'],
    ['MCD', 'mcdonalds'],
    ['mcd', 'mcdonalds'],
    ['MDO.DE', 'mcdonalds'],
    ['BRK.B', 'berkshire-hathaway'],
    ['brk b', 'berkshire-hathaway'],
    ['BRK/B', 'berkshire-hathaway'],
    ['BRK-B', 'berkshire-hathaway'],
    ['BRK_B', 'berkshire-hathaway'],
    ['BRK–A', 'berkshire-hathaway'],
    ['BRK/B US', 'berkshire-hathaway'],
    ['NYSE:BRK.B', 'berkshire-hathaway'],
    ['7203', 'toyota'],
    ['７２０３', 'toyota'],
    ['7203.T', 'toyota'],
    ['7203 JP', 'toyota'],
    ['7203:JP', 'toyota'],
    ['7203 JT', 'toyota'],
    ['TSE:7203', 'toyota'],
    ['TYO:7203', 'toyota'],
    ['TM', 'toyota'],
    ['0700.HK', 'tencent'],
    ['700.HK', 'tencent'],
    ['0700', 'tencent'],
    ['700', 'tencent'],
    ['00700', 'tencent'],
    ['700 HK', 'tencent'],
    ['HKEX:700', 'tencent'],
    ['285A', 'kioxia'],
    ['285a.t', 'kioxia'],
    ['285A JP', 'kioxia'],
    ['JPX:285A', 'kioxia'],
    ['XJPX:285A', 'kioxia'],
    ['005930', 'samsung'],
    ['005930.KS', 'samsung'],
    ['5930.KS', 'samsung'],
    ['005930 KS', 'samsung'],
    ['KRX:005930', 'samsung'],
    ['005935', 'samsung'],
    ['293490 KS', 'kakao-games'],
    ['293490.KQ', 'kakao-games'],
    ['KRX:293490', 'kakao-games'],
    ['2330', 'tsmc'],
    ['2330.TW', 'tsmc'],
    ['2330 TT', 'tsmc'],
    ['50.TW', 'taiwan-top-50'],
    ['TPE:0050', 'taiwan-top-50'],
    ['2222', 'aramco'],
    ['2222.SR', 'aramco'],
    ['2222 AB', 'aramco'],
    ['TADAWUL:2222', 'aramco'],
    ['600519', 'moutai'],
    ['600519.SS', 'moutai'],
    ['600519.SH', 'moutai'],
    ['600519 CH', 'moutai'],
    ['SHA:600519', 'moutai'],
    ['1.SZ', 'ping-an-bank'],
    ['000001 CH', 'ping-an-bank'],
    ['AMXB', 'america-movil'],
    ['AMX B MM', 'america-movil'],
    ['BMV:AMX B', 'america-movil'],
    ['AMXB.MX', 'america-movil'],
    ['ALA.PR.A', 'altagas'],
    ['TSX:ALA.PR.A', 'altagas'],
    ['ALA-PA.TO', 'altagas'],
    ['ALA^A', 'altagas'],
    ['TOR:ALA', 'altagas'],
    ['000001', 'ping-an-bank'],
    ['000001.SZ', 'ping-an-bank'],
    ['1', 'ck-hutchison'],
    ['00001', 'ck-hutchison'],
    ['SAP GR', 'sap'],
    ['SAP:GR', 'sap'],
    ['SAP', 'sap'],
    ['RY.TO', 'royal-bank-of-canada'],
    ['ry.to', 'royal-bank-of-canada'],
    ['BT.A', 'bt'],
    ['BT-A.L', 'bt'],
    ['BT/A LN', 'bt'],
    ['LON:BT.A', 'bt'],
    ['TSCO', 'tesco'],
    ['TSCO.L', 'tesco'],
    ['TSCO US', 'tractor-supply'],
    ['NASDAQ:TSCO', 'tractor-supply'],
    ['NOVO-B.CO', 'novo-nordisk'],
    ['OMXCOP:NOVO_B', 'novo-nordisk'],
    ['M&M.NS', 'mahindra'],
    // Domains
    ['apple.com', 'apple'],
    ['HTTPS://www.McDonalds.com:443/us/en?x', 'mcdonalds'],
    ['shop.mcdonalds.com', 'mcdonalds'],
    ['//mcdonalds.com./#top', 'mcdonalds'],
    ['sap.de', 'sap'],
    ['münchen-rück.de', 'munich-re'],
    ['MÜNCHEN-RÜCK.DE', 'munich-re'],
    ['xn--mnchen-rck-9dbh.de', 'munich-re'],
    ['global.toyota', 'toyota'],
    ['github.io', 'github'],
    ['site.github.io', 'site-on-github'],
    ['deep.site.github.io', 'site-on-github'],
    ['amazon.com', 'amazon'],
    ['smile.amazon.com', 'amazon'],
    ['aws.amazon.com', 'aws'],
    ['console.aws.amazon.com', 'amazon'],
    ['www.mcdonalds.com/us/en', 'mcdonalds'],
    ['www.munichre.com', 'munich-re'],
    ['ａｐｐｌｅ．ｃｏｍ', 'apple'],
    ['apple。com', 'apple'],
    // Securities
    ['US0378331005', 'apple'],
    ['us 037833 1005', 'apple'],
    ['037833100', 'apple'],
    ['BBG001S5N8V8', 'apple'],
    ['HWUPKR0MPOU8FGXBT394', 'apple'],
    // Names
    ['mcdonalds', 'mcdonalds'],
    ['McDonald’s Corp.', 'mcdonalds'],
    ['MCDONALD’S CORPORATION', 'mcdonalds'],
    ['Berkshire Hathaway Inc. Class B', 'berkshire-hathaway'],
    ['Berkshire Hathaway Inc. (Cl. B)', 'berkshire-hathaway'],
    ['berkshire hathaway inc class b common stock', 'berkshire-hathaway'],
    ['Nestlé', 'nestle'],
    ['Muenchener Rueck', 'munich-re'],
    ['MUENCHENER RUECKVERSICHERUNGS–GESELLSCHAFT', 'munich-re'],
    ['AP Moeller Maersk', 'maersk'],
    ['Home Depot (The)', 'home-depot'],
    ['Procter & Gamble Co., The', 'procter-and-gamble'],
    ['トヨタ 自動車', 'toyota'],
    ['トヨタ自動車㈱', 'toyota'],
    ['セブン・イレブン', 'seven-eleven'],
    ['セブンイレブン', 'seven-eleven'],
    ['Toyota Motor', 'toyota'],
    ['Toyota Industries', 'toyota-industries'],
    ['삼성전자(주)', 'samsung'],
    ['贵州茅台酒', 'moutai'],
    ['eni spa', 'eni'],
    ['Eni SpA', 'eni'],
    ['ENI', 'eni'],
    ['Carlsberg', 'carlsberg'],
    ['carlsberg as', 'carlsberg'],
    ['Sky S.p.A.', 'sky'],
    ['Apple Inc', 'apple'],
    ['APPLE, INC.', 'apple'],
    ['Apple Computer', 'apple'],
    ['McDonald’s', 'mcdonalds'],
    ["mcdonald's", 'mcdonalds'],
    ['McDonald`s', 'mcdonalds'],
    ['McDonald´s', 'mcdonalds'],
    ['mcdonalds®', 'mcdonalds'],
    ['nestle', 'nestle'],
    ['NESTLÉ SA', 'nestle'],
    ['Haagen Dazs', 'haagen-dazs'],
    ['HÄAGEN‑DAZS', 'haagen-dazs'],
    ['Ben and Jerrys', 'ben-and-jerrys'],
    ['Procter and Gamble', 'procter-and-gamble'],
    ['p & g', 'procter-and-gamble'],
    ['JP Morgan', 'jpmorgan'],
    ['J. P. Morgan', 'jpmorgan'],
    ['AP Moller Maersk', 'maersk'],
    ['Tiffany', 'tiffany'],
    ['Home Depot', 'home-depot'],
    ['The Limited', 'the-limited'],
    ['Disney Plus', 'disney-plus'],
    ['disney', 'disney'],
    ['Alphabet Inc. Class A', 'alphabet'],
    ['Facebook', 'meta'],
    ['トヨタ', 'toyota'],
    ['ﾄﾖﾀ', 'toyota'],
    ['トヨタ自動車', 'toyota'],
    ['トヨタ自動車(株)', 'toyota'],
    ['株式会社トヨタ', 'toyota'],
    // Superinvestors
    ['warren buffett', 'warren-buffett'],
    ['Warren E Buffett', 'warren-buffett'],
    ['Francois Rochon', 'francois-rochon'],
    ['Giverny Capital', 'francois-rochon'],
  ])('%j is %s', (identifier, id) => {
    expect(found(identifier)).toBe(id);
  });
});

describe('each of these finds nothing', () => {
  test.each([
    ['a secondary listing without its exchange', 'APC'],
    ['a ticker at another exchange', 'NYSE:AAPL'],
    ['a ticker with the wrong suffix', 'AAPL.L'],
    ['a figure of a venue that keeps its zeros', '7203.HK'],
    ['an e-mail address', 'info@apple.com'],
    ['an address with a user name', 'https://apple@apple.com/'],
    ['an IP address', '17.253.144.10'],
    ['a domain without a public suffix', 'apple.internal'],
    ["a shared host's other customer", 'other.github.io'],
    ['a likely misspelling', 'Aple'],
    ['half a name', 'Ben'],
    ['a name with another voiced mark', 'ドヨタ'],
    ['a different word beside the legal form', 'The Company'],
    ["a manager's website", 'buffett.example.com'],
    ['nothing but signs', '!?'],
    ['a day spa that shares its first word with a company', 'Sky Spa'],
    ['a word that is a legal form elsewhere', 'sky as'],
    ['a cartoon dog', 'Scooby Doo'],
    ['a product by the name of its maker and a word', 'Apple Ads'],
    ['a group by the name of a company', 'Apple Group'],
    ['a company that holds another', 'Apple Holdings'],
    ['a figure whose zeros only a named exchange gives back', '5930'],
    ['an ISIN with a wrong check digit', 'US0378331006'],
  ])('%s', (_, identifier) => {
    expect(found(identifier)).toBeUndefined();
  });
});

describe('the answer gives the kind, value and strength of the match', () => {
  test.each<[string, Omit<Resolution, 'keys'>]>([
    ['aapl', { id: 'apple', kind: 'ticker', value: 'AAPL', strength: 'exact' }],
    ['apc.de', { id: 'apple', kind: 'ticker', value: 'XETR:APC', strength: 'exact' }],
    ['www.apple.com', { id: 'apple', kind: 'domain', value: 'apple.com', strength: 'exact' }],
    ['isin us0378331005', { id: 'apple', kind: 'isin', value: 'US0378331005', strength: 'exact' }],
    ['037833100', { id: 'apple', kind: 'cusip', value: '037833100', strength: 'exact' }],
    ['BBG000B9XRY4', { id: 'apple', kind: 'figi', value: 'BBG000B9XRY4', strength: 'exact' }],
    ['hwupkr0mpou8fgxbt394', { id: 'apple', kind: 'lei', value: 'HWUPKR0MPOU8FGXBT394', strength: 'exact' }],
    ['apple inc.', { id: 'apple', kind: 'name', value: 'Apple Inc.', strength: 'exact' }],
    ['apple corporation', { id: 'apple', kind: 'name', value: 'Apple', strength: 'legal_form' }],
    ['apple computer', { id: 'apple', kind: 'name', value: 'Apple Computer, Inc.', strength: 'former' }],
    [
      'GIVERNY CAPITAL',
      { id: 'francois-rochon', kind: 'superinvestor', value: 'Giverny Capital Inc.', strength: 'legal_form' },
    ],
  ])('%s', (identifier, resolution) => {
    expect(resolve(identifier, candidates, everywhere)).toMatchObject(resolution);
  });
});

describe('precedence', () => {
  const among = (identifier: string, ...brands: Parameters<typeof brand>[0][]): Resolution | undefined =>
    resolve(
      identifier,
      brands.map((facts) => candidate(brand(facts))),
      everywhere,
    );

  test('a domain in lower case goes before the ticker that it may be, in upper case after it', () => {
    const owner = { id: 'owner', name: 'Owner', domains: ['abc.de'] };
    const listed = { id: 'listed', name: 'Listed', listings: ['ABC@XETR'], rank: 900 };
    expect(among('abc.de', owner, listed)?.id).toBe('owner');
    expect(among('ABC.DE', owner, listed)?.id).toBe('listed');
    expect(among('abc.de', listed)?.id).toBe('listed');
    expect(among('ABC.DE', owner)?.id).toBe('owner');
  });

  test('a security identifier goes before any other reading of the same text, however well known that record is', () => {
    const security = { id: 'security', name: 'Security', cusip: '037833100', rank: 1 };
    const listed = { id: 'listed', name: 'Listed', listings: ['037833100@XNYS'], rank: 900 };
    const named = { id: 'named', name: '037833100', rank: 950 };
    expect(among('037833100', security, listed, named)?.id).toBe('security');
    expect(among('037833100', listed, named)?.id).toBe('named');
  });

  test('a bare ticker that is the exact name of a better known company means that company', () => {
    const listed = { id: 'forward', name: 'Forward Industries', listings: ['FORD@XNAS'], rank: 100 };
    const named = { id: 'ford', name: 'Ford', rank: 900 };
    expect(among('FORD', listed, named)).toMatchObject({ id: 'ford', kind: 'name' });
    expect(among('FORD', { ...listed, rank: 950 }, named)).toMatchObject({ id: 'forward', kind: 'ticker' });
    expect(among('FORD', { ...listed, rank: 900 }, named)?.id).toBe('forward');
    expect(among('NASDAQ:FORD', listed, named)?.id).toBe('forward');
  });

  test('a bare ticker gives way to a company that is clearly better known by a former name or without its legal form', () => {
    const listed = { id: 'listed', name: 'Listed', listings: ['ABC@XTSX'], rank: 500 };
    const formerly = { id: 'formerly', name: 'F', formerly: ['ABC'], rank: 700 };
    const legally = { id: 'legally', name: 'ABC Inc.', rank: 700 };
    expect(among('abc', listed, formerly)).toMatchObject({ id: 'formerly', strength: 'former' });
    expect(among('ABC', listed, legally)).toMatchObject({ id: 'legally', strength: 'legal_form' });
    expect(among('abc', listed, { ...formerly, rank: 699 })?.id).toBe('listed');
    expect(among('ABC', listed, { ...formerly, rank: 900 })?.id).toBe('listed');
    expect(among('ABC', listed, { ...legally, rank: 699 })?.id).toBe('listed');
    expect(among('TSXV:ABC', listed, formerly, legally)?.id).toBe('listed');
  });

  test('a text in capital and small letters is rather the name of a company that is not less known', () => {
    const listed = { id: 'listed', name: 'Nexor Tools', listings: ['NEXO@XNAS'], rank: 750 };
    const named = { id: 'named', name: 'NEXO plc', rank: 750 };
    expect(among('Nexo', listed, named)).toMatchObject({ id: 'named', strength: 'legal_form' });
    expect(among('Nexo', listed, { ...named, name: 'Nexo' })).toMatchObject({ id: 'named', kind: 'name' });
    expect(among('NEXO', listed, named)?.id).toBe('listed');
    expect(among('nexo', listed, named)?.id).toBe('listed');
    expect(among('Nexo', listed, { ...named, rank: 749 })?.id).toBe('listed');
  });

  test('a word in capital and small letters is a ticker only if a well-known company abbreviates its name by it', () => {
    const apple = { id: 'apple', name: 'Apple Inc.', listings: ['AAPL@XNAS'], rank: 700 };
    expect(among('Aapl', apple)).toMatchObject({ id: 'apple', kind: 'ticker' });
    expect(among('Aapl', { ...apple, rank: 699 })).toBeUndefined();
    expect(among('aapl', { ...apple, rank: 699 })?.id).toBe('apple');
    const bottler = { id: 'bottler', name: 'Coca-Cola Consolidated', listings: ['COKE@XNAS'], rank: 750 };
    expect(among('Coke', bottler)).toBeUndefined();
    expect(among('Coke', { ...bottler, name: 'Coke Bottlers' })?.id).toBe('bottler');
    expect(among('Coke', { ...bottler, rank: 1, name: 'Coke Inc.' })?.id).toBe('bottler');
    expect(among('Coke US', bottler)?.id).toBe('bottler');
    const cook = { id: 'cook', name: 'Cookery', formerly: ['Cake'], listings: ['CAKE@XNYS'], rank: 700 };
    expect(among('Cake', cook)).toMatchObject({ id: 'cook', strength: 'former' });
    expect(among('Cake', { ...cook, rank: 699 })).toBeUndefined();
    const lake = { id: 'lake', name: 'Snowlake Inc.', listings: ['SNOW@XNYS'], rank: 800 };
    expect(among('Snow', lake)).toBeUndefined();
    expect(among('snow', lake)?.id).toBe('lake');
    expect(among('SNOW', lake)?.id).toBe('lake');
    expect(among('Snow', { ...lake, names: ['Snow Inc.'] })).toMatchObject({ id: 'lake', kind: 'ticker' });
  });

  test('capitals alone mean a well-known ticker before any name, and "$" any ticker', () => {
    const bottler = { id: 'bottler', name: 'Coca-Cola Consolidated', listings: ['COKE@XNAS'], rank: 700 };
    const cola = { id: 'cola', name: 'Coca-Cola', names: ['Coke'], rank: 1_000 };
    expect(among('COKE', bottler, cola)?.id).toBe('bottler');
    expect(among('Coke', bottler, cola)?.id).toBe('cola');
    expect(among('coke', bottler, cola)?.id).toBe('cola');
    expect(among('COKE', { ...bottler, rank: 699 }, cola)?.id).toBe('cola');
    expect(among('$coke', { ...bottler, rank: 1 }, cola)?.id).toBe('bottler');
    expect(among('$ coke', { ...bottler, rank: 1 }, cola)?.id).toBe('bottler');
    expect(among('$COKE', { ...cola, names: ['COKE'] })).toBeUndefined();
  });

  test('a word of five capitals is rather the name of a better known company than a ticker', () => {
    const ticker = { id: 'ticker', name: 'Delta Electronics', listings: ['DELTA@XBKK'], rank: 800 };
    const airline = { id: 'airline', name: 'Delta Air Lines', names: ['Delta'], rank: 801 };
    expect(among('DELTA', ticker, airline)?.id).toBe('airline');
    expect(among('DELTA', ticker, { ...airline, rank: 800 })?.id).toBe('ticker');
    expect(among('$DELTA', ticker, airline)?.id).toBe('ticker');
    expect(among('DELT', { ...ticker, listings: ['DELT@XBKK'] }, { ...airline, names: ['Delt'] })?.id).toBe(
      'ticker',
    );
  });

  test('a text in capital and small letters is rather a name without "Group" if a single, much better known company has it', () => {
    const listed = { id: 'listed', name: 'Foldable', listings: ['FOLD@XMEX'], rank: 700 };
    const group = { id: 'group', name: 'Fold Holdings Inc.', rank: 850 };
    expect(among('Fold', listed, group)).toMatchObject({ id: 'group', strength: 'group_word' });
    expect(among('FOLD', listed, group)?.id).toBe('listed');
    expect(among('Fold', listed, { ...group, rank: 849 })?.id).toBe('listed');
    expect(among('Fold', listed, group, { ...group, id: 'other', name: 'Fold Group' })?.id).toBe('listed');
  });

  test('a bare ticker gives way to a weakly matching name only if a single, clearly better known company has it', () => {
    const listed = { id: 'listed', name: 'Listed', listings: ['ATT@XLON'], rank: 300 };
    const known = { id: 'known', name: 'AT&T', rank: 500 };
    expect(among('ATT', listed, known)).toMatchObject({ id: 'known', strength: 'spacing' });
    expect(among('ATT', listed, { ...known, rank: 499 })?.id).toBe('listed');
    expect(among('ATT', listed, known, { id: 'other', name: 'A. T. and T.', rank: 1 })?.id).toBe('listed');
  });

  test('a company in New York or on Nasdaq of unknown rank goes before a small one elsewhere', () => {
    const unknown = { id: 'unknown', name: 'Clear Secure', listings: ['YOU@XNYS'], rank: 300 };
    const small = { id: 'small', name: 'YouGov', listings: ['YOU@XLON'], rank: 599 };
    expect(among('YOU', unknown, small)?.id).toBe('unknown');
    expect(among('YOU', unknown, { ...small, rank: 601 })?.id).toBe('small');
    expect(among('YOU', { ...unknown, rank: 301 }, small)?.id).toBe('small');
    expect(among('YOU', { ...unknown, listings: ['YOU@OTCM'] }, small)?.id).toBe('small');
  });

  test('a bare ticker never gives way to a superinvestor or to a bare record', () => {
    const listed = { id: 'listed', name: 'Listed', listings: ['ABC@XNAS'], rank: 100 };
    const manager = { id: 'm', name: 'ABC', manager: 'ABC', type: BrandType.SUPERINVESTOR, rank: 900 };
    expect(among('ABC', listed, manager)?.id).toBe('listed');
    expect(among('ABC', listed, { id: 'icon', name: 'ABC', rank: 900, bare: true })?.id).toBe('listed');
  });

  test('a bare ticker means a main listing, failing one another listing in the United States', () => {
    const foreign = { id: 'foreign', name: 'Foreign', listings: ['7203@XTKS', 'TM@XNYS'], rank: 699 };
    const listed = { id: 'listed', name: 'Listed', listings: ['TM@XASX'], rank: 500 };
    expect(among('tm', foreign)).toMatchObject({ id: 'foreign', kind: 'ticker', value: 'TM' });
    expect(among('TM', foreign, listed)?.id).toBe('listed');
    expect(among('TM', { ...foreign, rank: 700 }, listed)?.id).toBe('foreign');
    expect(among('TM', foreign, { id: 'named', name: 'TM', rank: 700 })?.id).toBe('named');
    expect(among('APC', { id: 'apple', name: 'Apple', listings: ['AAPL@XNAS', 'APC@XETR'] })).toBeUndefined();
  });

  test("a ticker of the venue's own is a main ticker only at home", () => {
    const foreign = { id: 'foreign', name: 'Foreign', listings: ['FMNB@XBER', 'LDO@XLON'] };
    expect(among('FMNB', { ...foreign, country: 'IT' })).toBeUndefined();
    expect(among('FMNB.BE', { ...foreign, country: 'IT' })?.id).toBe('foreign');
    expect(among('FMNB', { ...foreign, country: 'DE' })?.id).toBe('foreign');
    expect(among('FMNB', foreign)?.id).toBe('foreign');
    expect(among('FMNB', { ...foreign, listings: ['FMNB@XNAS'], country: 'IT' })?.id).toBe('foreign');
  });

  test('a record of an icon never goes before a fuller one with an equal claim, whatever its rank', () => {
    const icon = { id: 'icon', name: 'Stryker', domains: ['stryker.com'], rank: 900, bare: true };
    const company = { id: 'company', name: 'Stryker', domains: ['stryker.com'], rank: 1 };
    expect(among('stryker', icon, company)?.id).toBe('company');
    expect(among('stryker.com', icon, company)?.id).toBe('company');
    expect(among('stryker', icon, { ...company, name: 'Stryker Corporation' })?.id).toBe('company');
    expect(among('stryker', icon, { id: 'other', name: 'Other', formerly: ['Stryker'], rank: 950 })?.id).toBe(
      'icon',
    );
    expect(among('stryker', icon, { ...icon, id: 'small', rank: 1 })?.id).toBe('icon');
  });

  test('a name without words such as "Group" is found if only one company has it', () => {
    const bank = { id: 'bank', name: 'The Goldman Sachs Group, Inc.', rank: 800 };
    const found = {
      id: 'bank',
      kind: 'name',
      strength: 'group_word',
      value: 'The Goldman Sachs Group, Inc.',
    };
    expect(among('Goldman Sachs', bank)).toMatchObject(found);
    expect(among('goldman sachs inc', bank)).toMatchObject(found);
    expect(
      among('Goldman Sachs', bank, { id: 'b', name: 'Goldman Sachs Holdings', rank: 1 }),
    ).toBeUndefined();
    expect(among('Goldman Sachs', bank, { id: 'b', name: 'Goldman Sachs Holdings', bare: true })?.id).toBe(
      'bank',
    );
    expect(
      among('Goldman Sachs', bank, { id: 'b', name: 'B', formerly: ['Goldman Sachs'], rank: 1 })?.id,
    ).toBe('b');
    expect(among('Goldman Sachs Holdings', bank)).toBeUndefined();
  });

  test.each([
    ['Booking', 'Booking Holdings Inc.'],
    ['alibaba', 'Alibaba Group Holding Limited'],
    ['alibaba group', 'Alibaba Group Holding Limited'],
    ['Bimbo', 'Grupo Bimbo, S.A.B. de C.V.'],
    ['ING', 'ING Groep N.V.'],
    ['Saint-Gobain', 'Compagnie de Saint-Gobain'],
    ['Estée Lauder', 'The Estée Lauder Companies Inc.'],
    ['ЛСР', 'Группа ЛСР (ПАО)'],
    ['ソニー', 'ソニーグループ株式会社'],
    ['复星', '复星集团'],
    ['신한', '신한지주'],
    ['Koç', 'Koç Holding A.Ş.'],
  ])('%j finds %j', (identifier, name) => {
    expect(among(identifier, { id: 'it', name })).toMatchObject({ id: 'it', strength: 'group_word' });
  });

  test('a name without its spaces and punctuation is found if only one company has it', () => {
    const cola = { id: 'cola', name: 'The Coca-Cola Company', rank: 900 };
    const found = { id: 'cola', kind: 'name', strength: 'spacing', value: 'The Coca-Cola Company' };
    expect(among('cocacola', cola)).toMatchObject(found);
    expect(among('CocaCola Company', cola)).toMatchObject(found);
    expect(among('Co Ca Cola', cola)).toMatchObject(found);
    expect(among('cocacola', cola, { id: 'other', name: 'Coca Cola AG', rank: 1 })).toBeUndefined();
    expect(among('cocacola', cola, { id: 'named', name: 'Cocacola', rank: 1 })?.id).toBe('named');
    expect(among('cocacola', cola, { id: 'was', name: 'Was', formerly: ['Cocacola'], rank: 1 })?.id).toBe(
      'was',
    );
    expect(among('coca cola', { id: 'was', name: 'Was', formerly: ['Cocacola'] })).toBeUndefined();
  });

  test.each([
    ['ATT', 'AT&T Inc.'],
    ['JP Morgan Chase', 'JPMorganChase'],
    ['jpmorganchase', 'JPMorgan Chase & Co.'],
    ["Mc Donald's", "McDonald's"],
    ['You Tube', 'YouTube'],
    ['Wal-Mart', 'Walmart Inc.'],
    ['procter gamble', 'Procter & Gamble'],
    ['marksspencer', 'Marks & Spencer plc'],
    ['goldmansachs', 'Goldman Sachs Group'],
    ['Black Rock', 'BlackRock Group'],
    ['delta airlines', 'Delta Air Lines, Inc.'],
  ])('%j finds %j', (identifier, name) => {
    expect(among(identifier, { id: 'it', name })).toMatchObject({ id: 'it', strength: 'spacing' });
  });

  test.each([
    ['SP', 'S&P'],
    ['hm', 'H & M'],
  ])('%j does not find %j, because texts of two characters fit too many companies', (identifier, name) => {
    expect(among(identifier, { id: 'it', name: `${name} Inc.` })).toBeUndefined();
  });

  test('a share class without its sign is found if the exchange is given, or if only one company fits', () => {
    const volvo = { id: 'volvo', name: 'Volvo', listings: ['VOLV-B@XSTO'] };
    expect(among('VOLVB SS', volvo)).toMatchObject({ id: 'volvo', strength: 'exact' });
    expect(among('VOLVB', volvo)).toMatchObject({ id: 'volvo', kind: 'ticker', strength: 'spacing' });
    expect(among('VOLVB', volvo, { id: 'named', name: 'Vol VB' })).toBeUndefined();
    expect(
      among('VOLVB', volvo, { id: 'listed', name: 'Listed', listings: ['VOLVB@XNAS'], rank: 1 })?.id,
    ).toBe('listed');
  });

  test.each([
    ['Vietnam', 'VietNam Holding Limited'],
    ['China', 'China Holdings, Inc.'],
    ['mexico', 'Grupo Mexico, S.A.B. de C.V.'],
    ['Deutsche', 'Deutsche Beteiligungs AG'],
    ['United', 'UNITED, Inc.'],
  ])('a country or an adjective, alone, is no part of the name of a company: %s is not %s', (word, name) => {
    expect(among(word, { id: 'it', name, rank: 739 })).toBeUndefined();
    expect(among(word, { id: 'it', name: word, rank: 1 })?.id).toBe('it');
    expect(among(word, { id: 'it', name: `${word} Inc.`, rank: 740 })?.id).toBe('it');
  });

  test.each([
    ['United Company', 'UNITED, Inc.'],
    ['China Ltd', 'China Holdings Ltd'],
  ])('nor with another legal form or without "Holdings": %s is not %s', (identifier, name) => {
    expect(among(identifier, { id: 'it', name, rank: 739 })).toBeUndefined();
    expect(among(identifier, { id: 'it', name: identifier, rank: 1 })?.id).toBe('it');
    expect(among('United Inc.', { id: 'it', name: 'UNITED, Inc.', rank: 1 })?.id).toBe('it');
    expect(among('United Corp.', { id: 'it', name: 'UNITED, Inc.', rank: 740 })?.id).toBe('it');
  });

  test('a much better known group goes before a name without its legal form, if it is the only one', () => {
    const small = { id: 'small', name: 'NOMURA Co., Ltd.', rank: 580 };
    const group = { id: 'group', name: 'Nomura Holdings, Inc.', rank: 730 };
    expect(among('Nomura', small, group)).toMatchObject({ id: 'group', strength: 'group_word' });
    expect(among('Nomura', small, { ...group, rank: 729 })?.id).toBe('small');
    expect(among('Nomura Co., Ltd.', small, group)?.id).toBe('small');
    expect(among('Nomura', small, group, { id: 'b', name: 'Nomura Group', rank: 730 })?.id).toBe('small');
    expect(among('Nomura', { ...small, name: 'Nomura' }, group)?.id).toBe('small');
  });

  test('a much better known company goes before a little known one with exactly the name, unless their legal forms differ', () => {
    const listed = { id: 'listed', name: 'Winmark', names: ['WINMARK CORP.'], rank: 450 };
    const known = { id: 'known', name: 'Winmark Corporation', rank: 600 };
    expect(among('Winmark', listed, known)).toMatchObject({ id: 'known', strength: 'legal_form' });
    expect(among('WINMARK CORP.', listed, known)?.id).toBe('known');
    expect(among('Winmark', listed, { ...known, rank: 599 })?.id).toBe('listed');
    expect(among('Winmark', { ...listed, rank: 300 }, { ...known, rank: 599 })?.id).toBe('listed');
    expect(among('Winmark', { ...listed, rank: 600 }, { ...known, rank: 900 })?.id).toBe('listed');
    expect(among('WINMARK AG', { ...listed, names: ['WINMARK AG'] }, known)?.id).toBe('listed');
  });

  test('of companies with one whole name, its short form means the best known, and of others none', () => {
    const known = { id: 'known', name: 'NatWest Group plc', rank: 800 };
    const twin = { id: 'twin', name: 'NatWest Group plc', rank: 740 };
    expect(among('NatWest', twin, known)).toMatchObject({ id: 'known', strength: 'group_word' });
    expect(among('NatWest', { ...twin, name: 'NatWest Holdings' }, known)).toBeUndefined();
  });

  test('a place or an adjective in small letters is no ticker of a little known company', () => {
    const green = { id: 'green', name: 'Green Resources', listings: ['GREEN@XBKK'], rank: 599 };
    expect(among('green', green)).toBeUndefined();
    expect(among('GREEN', green)?.id).toBe('green');
    expect(among('green', { ...green, rank: 600 })?.id).toBe('green');
  });

  test('a place or an adjective means a company without its legal form only if the company is large', () => {
    const light = { id: 'light', name: 'Light S.A.', rank: 739 };
    expect(among('Light', light)).toBeUndefined();
    expect(among('Light S.A.', light)?.id).toBe('light');
    expect(among('Light', { ...light, rank: 740 })?.id).toBe('light');
  });

  test('a common word in small letters means no icon', () => {
    const icon = { id: 'icon', name: 'NOW', websites: ['https://www.nowtv.com/'], bare: true };
    expect(among('now', icon)).toBeUndefined();
    expect(among('Now', icon)?.id).toBe('icon');
  });

  test('an icon with a name written in capital and small letters goes before the ticker of a small company', () => {
    const icon = { id: 'icon', name: 'Skyr', websites: ['https://www.skyr.com/'], bare: true };
    const miner = { id: 'miner', name: 'Skyrock Metals Limited', listings: ['SKYR@XASX'], rank: 659 };
    expect(among('Skyr', icon, miner)).toMatchObject({ id: 'icon', kind: 'name' });
    expect(among('SKYR', icon, miner)).toMatchObject({ id: 'miner', kind: 'ticker' });
    expect(among('skyr', icon, miner)?.id).toBe('miner');
    expect(among('Skyr', icon, { ...miner, rank: 700 })?.id).toBe('miner');
    expect(among('Skyr', { ...icon, name: 'Skyr TV' }, miner)).toBeUndefined();
    expect(among('Skyr', icon, { ...miner, name: 'Skyr Ltd' })?.id).toBe('miner');
    expect(among('Skyr', icon, { ...miner, name: 'Skyr Group Ltd' })?.id).toBe('miner');
  });

  test('an icon gives way to a company of at least 2 billion dollars that alone has its name without "Group"', () => {
    const icon = { id: 'icon', name: 'Lucid', websites: ['https://lucid.co/'], bare: true };
    const group = { id: 'group', name: 'Lucid Group Inc.', rank: 660 };
    expect(among('Lucid', icon, group)).toMatchObject({ id: 'group', strength: 'group_word' });
    expect(among('lucid.co', icon, group)?.id).toBe('icon');
    expect(among('Lucid', icon, { ...group, rank: 659 })?.id).toBe('icon');
    expect(among('Lucid', icon, { ...group, name: 'Lucid Diagnostics Inc.' })?.id).toBe('icon');
    expect(among('Lucid', icon, group, { id: 'b', name: 'Lucid Holdings', rank: 660 })?.id).toBe('icon');
    expect(among('Lucid', { ...icon, bare: false }, group)?.id).toBe('icon');
  });

  test.each([
    ['Lumen', 'Lumen Technologies, Inc.', 'https://www.lumen.com/'],
    ['hang seng', 'Hang Seng Bank Limited', 'http://www.hangseng.com'],
    ['X-FAB', 'X-FAB Silicon Foundries SE', 'xfab.com'],
    ['EA', 'Electronic Arts Inc.', 'http://www.ea.com'],
    ['RioCan', 'RioCan Real Estate Investment Trust', 'https://riocan.com'],
  ])('%s is the short name of %s, because it has %s', (identifier, name, website) => {
    const company = { id: 'company', name, websites: [website], rank: 660 };
    const found = { id: 'company', strength: 'site_name', value: name };
    expect(among(identifier, company)).toMatchObject(found);
    expect(among(identifier, company, { id: 'icon', name: identifier, bare: true })).toMatchObject(found);
    expect(among(identifier, company, { id: 'other', name: identifier, rank: 1 })?.id).toBe('other');
    expect(among(identifier, company, { id: 'other', name: `${identifier} Group` })?.id).toBe('other');
    expect(among(`${identifier} Inc.`, company)).toBeUndefined();
    expect(among(identifier, { ...company, bare: true })).toBeUndefined();
    expect(among(identifier, company, { ...company, id: 'second' })?.strength).not.toBe('site_name');
  });

  test.each([
    ['Flux', 'Flux Power Holdings', 'https://flux.dev/'],
    ['Origin', 'Origin Energy Limited', 'https://www.originenergy.com/'],
    ['Barings', 'Barings Emerging EMEA Opportunities Plc', 'http://www.barings.com'],
    ['Jadwa', 'Jadwa REIT Al Haramain Fund', 'http://jadwa.com'],
    ['AG', 'AG Growth International Inc.', 'http://www.ag.com'],
  ])('%s is no short name of %s, which has %s', (identifier, name, website) => {
    expect(among(identifier, { id: 'company', name, websites: [website], rank: 599 })).toBeUndefined();
  });

  test.each([
    ['Coinbase', 'Coinbase Global, Inc.'],
    ['spotify', 'Spotify Technology S.A.'],
    ['Ford', 'Ford Motor Co'],
    ['Palo Alto', 'Palo Alto Networks Inc'],
    ['The Hyatt', 'Hyatt Hotels Corporation'],
    ['Molson Coors', 'Molson Coors Beverage Company'],
    ['Chipotle', 'Chipotle Mexican Grill, Inc.'],
    ['Bristol Myers', 'Bristol-Myers Squibb Company'],
    ['Thermo Fisher', 'Thermo Fisher Scientific Inc.'],
    ['Auckland Airport', 'Auckland International Airport Limited'],
  ])(
    '%s is %s, whose name has only words for its business behind it, or which alone has these two words',
    (identifier, name) => {
      const company = { id: 'company', name, rank: 600 };
      expect(among(identifier, company)).toEqual({
        id: 'company',
        kind: 'name',
        value: name,
        strength: 'leading_words',
        keys: [`name:${identifier.toLowerCase().replace('the ', '')}`],
      });
      expect(among(identifier, { ...company, rank: 599 })).toBeUndefined();
      expect(among(`${identifier} Inc.`, company)).toBeUndefined();
      expect(among(identifier, { ...company, rank: 900, bare: true })).toBeUndefined();
    },
  );

  test.each([
    ['JPMorgan', 'JPMorgan Chase & Co.'],
    ['Goldman', 'The Goldman Sachs Group, Inc.'],
    ['Procter', 'Procter & Gamble'],
    ['Berkshire', 'Berkshire Hathaway Inc.'],
    ['NXP', 'NXP Semiconductors N.V.'],
  ])('%s is %s from 20 billion dollars on', (identifier, name) => {
    const company = { id: 'company', name, rank: 780 };
    expect(among(identifier, company)).toMatchObject({ id: 'company', strength: 'leading_words' });
    expect(among(identifier, { ...company, rank: 779 })).toBeUndefined();
  });

  test.each([
    ['Westinghouse', 'Westinghouse Air Brake Technologies Corp'],
    ['Bank of', 'Bank of America Corporation'],
    ['Bank of New York', 'The Bank of New York Mellon Corporation'],
    ['New York', 'New York Times Co'],
    ['Texas', 'Texas Instruments'],
    ['Canadian', 'Canadian Natural Resources'],
    ['China', 'China Mobile'],
    ['American', 'American Express'],
    ['First', 'First Solar'],
    ['First National', 'First National Energy'],
    ['Canadian First', 'Canadian First Life Assurance'],
    ['First Bank', 'First International Bank of Israel'],
    ['Shenzhen Holdings', 'Shenzhen International Holdings Limited'],
    ['General', 'General Motors'],
    ['International', 'International Paper'],
    ['Home', 'The Home Depot'],
    ['gold', 'Gold Fields'],
    ['The', 'The Trade Desk'],
    ['Palo', 'Palo Alto Networks Holding Technologies Worldwide'],
    ['Alto', 'Palo Alto Networks'],
    ['Coinbas', 'Coinbase Global'],
    ['Robert', 'Robert Bosch GmbH'],
    ['P', 'P&G'],
    ['burger', 'Burger King'],
    ['66', '66 Motors'],
    ['Hall Chadwick', 'Hall Chadwick Acquisition Corp'],
    ['Rocket Internet', 'Rocket Internet Growth Opportunities Corp.'],
    ['Four Seasons', 'Four Seasons Education (Cayman) Inc.'],
  ])('%s alone is not %s, however well known that is', (identifier, name) => {
    expect(among(identifier, { id: 'company', name, rank: 1_000 })).toBeUndefined();
  });

  test('leading words mean a company only if it is clearly the best known of less than six companies with such names', () => {
    const large = { id: 'large', name: 'Marriott Hotels', rank: 860 };
    const small = { id: 'small', name: 'Marriott Vacations Worldwide', rank: 745 };
    expect(among('Marriott', large, small)?.id).toBe('large');
    expect(among('Marriott', large, { ...small, rank: 746 })).toBeUndefined();
    expect(among('Marriott', large, { ...small, rank: 900, bare: true })?.id).toBe('large');
    expect(among('Marriott', large, { ...large, id: 'twin', rank: 859 })?.id).toBe('large');
    const others = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ id: `${index}`, name: `Marriott ${index}`, rank: 1 }));
    expect(among('Marriott', large, ...others(4))?.id).toBe('large');
    expect(among('Marriott', large, ...others(5))).toBeUndefined();
    const bristol = { id: 'bristol', name: 'Bristol Myers Squibb', rank: 779 };
    expect(among('Bristol Myers', bristol)?.id).toBe('bristol');
    expect(
      among('Bristol Myers', bristol, { id: 'b', name: 'Bristol Myers Dining', rank: 1 }),
    ).toBeUndefined();
    expect(among('J&J', { id: 'snacks', name: 'J&J Snack Foods', rank: 779 })).toBeUndefined();
    expect(among('L&T', { id: 'lt', name: 'L&T Technology Services', rank: 779 })).toBeUndefined();
  });

  test('leading words mean the whole of a large company before a part of its business, and a parent before a subsidiary at a place', () => {
    const whole = { id: 'whole', name: 'Honeywell International Inc.', rank: 843 };
    const part = { id: 'part', name: 'Honeywell Aerospace Inc.', rank: 828 };
    expect(among('Honeywell', whole, part)?.id).toBe('whole');
    expect(among('Honeywell', { ...whole, rank: 779 }, { ...part, rank: 770 })).toBeUndefined();
    expect(among('Honeywell', whole, { ...part, rank: 850 })).toBeUndefined();
    const parent = { id: 'parent', name: 'Molson Coors Beverage Company', rank: 740 };
    const subsidiary = { id: 'subsidiary', name: 'Molson Coors Canada Inc.', rank: 740 };
    expect(among('Molson Coors', parent, subsidiary)?.id).toBe('parent');
    const haveOneSite = [parent, subsidiary].map((company) => ({
      ...company,
      websites: ['https://www.molsoncoors.com'],
    }));
    expect(among('Molson Coors', ...haveOneSite)).toMatchObject({ id: 'parent', strength: 'leading_words' });
    expect(among('Fortescue', { id: 'mines', name: 'Fortescue Metals Group Limited', rank: 740 })?.id).toBe(
      'mines',
    );
  });

  test('a place and an adjective mean a company only if no other one begins so, however little known that is', () => {
    const railway = { id: 'railway', name: 'Canadian National Railway Company', rank: 740 };
    expect(among('Canadian National', railway)?.id).toBe('railway');
    expect(among('Canadian National', { ...railway, rank: 739 })).toBeUndefined();
    const other = { id: 'other', name: 'Canadian National Foods Inc.', rank: 400 };
    expect(among('Canadian National', railway, other)).toBeUndefined();
  });

  test('a "+" between two words is "&" too, and one behind a word is not', () => {
    const lomb = { id: 'lomb', name: 'Bausch + Lomb Corp' };
    const nagel = { id: 'nagel', name: 'Kuehne & Nagel' };
    for (const text of ['Bausch & Lomb', 'Bausch and Lomb', 'Bausch+Lomb', 'Bausch plus Lomb'])
      expect(among(text, lomb, nagel)?.id).toBe('lomb');
    for (const text of ['Kuehne + Nagel', 'KUEHNE+NAGEL']) expect(among(text, lomb, nagel)?.id).toBe('nagel');
    expect(among('Canal and Polska', { id: 'canal', name: 'Canal+ Polska' })).toBeUndefined();
  });

  test('"N.A." is a legal form, and "NA" is Amsterdam behind a ticker', () => {
    const company = { id: 'bank', name: 'Flow Bank, N.A.' };
    for (const name of ['Flow Bank', 'Flow Bank N.A.', 'Flow Bank, National Association'])
      expect(among(name, company)?.id).toBe('bank');
    expect(among('FLOW NA', { id: 'flow', name: 'Flow Corp.' })).toBeUndefined();
  });

  test('an answer by leading words is the best known company whose name begins so, whatever the order of candidates', () => {
    const word = fc.constantFrom('Palo', 'Alto', 'Motor', 'Networks', 'Chase', 'Group', 'Inc.', 'First');
    const name = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
    const company = fc.record({ name, rank: fc.integer({ min: 550, max: 900 }) });
    fc.assert(
      fc.property(fc.array(company, { maxLength: 8 }), name, (companies, text) => {
        const all = companies.map((each, index) => candidate(brand({ ...each, id: `${index}` })));
        const answer = resolve(text, all, everywhere);
        expect(resolve(text, all.toReversed(), everywhere)).toEqual(answer);
        if (answer?.strength !== 'leading_words') return;
        const begins = companies.filter((each) => each.name.startsWith(`${text.replace(/ Inc\.$/, '')} `));
        expect(begins.map((each) => each.rank)).toContain(companies[Number(answer.id)]?.rank);
        expect(companies[Number(answer.id)]?.rank).toBeGreaterThanOrEqual(600);
      }),
      { numRuns: 500 },
    );
  });

  test('leading words come after every other match, and a name together with a ticker does not have them', () => {
    const ford = { id: 'ford', name: 'Ford Motor', listings: ['F@XNYS'], rank: 900 };
    expect(among('Ford', ford, { id: 'b', name: 'Ford Holdings', rank: 1 })?.id).toBe('b');
    expect(among('FORD', ford, { id: 'b', name: 'Forward', listings: ['FORD@XNAS'], rank: 1 })?.id).toBe('b');
    expect(among('Ford', ford, { id: 'b', name: 'Forward', listings: ['FORD@XNAS'], rank: 1 })?.id).toBe(
      'ford',
    );
    expect(among('Ford (F)', ford)).toBeUndefined();
  });

  test("leading words of a superinvestor's firm mean the superinvestor, if no company has them", () => {
    const manager = { id: 'm', name: 'Seth Klarman', firm: 'The Baupost Group', rank: 1 };
    const investor = { ...manager, type: BrandType.SUPERINVESTOR, rank: 680 };
    const found = { id: 'm', kind: 'superinvestor', value: 'The Baupost Group', strength: 'leading_words' };
    expect(among('Baupost', investor)).toMatchObject(found);
    expect(among('Himalaya Capital', { ...investor, firm: 'Himalaya Capital Management' })?.id).toBe('m');
    expect(among('Seth', investor)).toBeUndefined();
    expect(among('Baupost', investor, { id: 'c', name: 'Baupost Motors', rank: 600 })?.id).toBe('c');
    const other = { ...investor, id: 'other', firm: 'Baupost Partners' };
    expect(among('Baupost', investor, other)).toBeUndefined();
    expect(resolve('Baupost', [candidate(brand(investor))], { superinvestors: false })).toBeUndefined();
  });

  test('a preference share in London is found only with its exchange', () => {
    const aviva = { id: 'aviva', name: 'Aviva plc', listings: ['AV@XLON', 'AV-B@XLON'] };
    expect(among('AVB', aviva)).toBeUndefined();
    expect(among('AV-B', aviva)).toBeUndefined();
    expect(among('AV-B.L', aviva)?.id).toBe('aviva');
    expect(among('BTA', { id: 'bt', name: 'BT', listings: ['BT@XLON', 'BT-A@XLON'] })?.id).toBe('bt');
  });

  test('a common word means a company only by its whole current name, or by its ticker in capitals alone or after "$"', () => {
    const listed = { id: 'listed', name: 'Listed', listings: ['ALL@XNYS'], rank: 1 };
    for (const identifier of ['ALL', ' ALL ', '$ALL', '$all', 'NYSE:ALL', 'all us'])
      expect(among(identifier, listed)?.id).toBe('listed');
    for (const identifier of ['all', 'All', 'aLL'])
      expect(among(identifier, { ...listed, rank: 900 })).toBeUndefined();
    expect(among('ALL', { ...listed, listings: ['ALLST@XETR', 'ALL@XNYS'] })?.id).toBe('listed');
    expect(among('ALL', { ...listed, listings: ['ALLST@XETR', 'ALL@XMEX'], country: 'US' })).toBeUndefined();
    expect(among('ALL', { ...listed, listings: [], formerTickers: ['ALL'] })).toBeUndefined();
    expect(among('all', { id: 'named', name: 'All', rank: 1 })?.id).toBe('named');
    expect(among('bank', { id: 'named', name: 'Bank AG', rank: 900 })).toBeUndefined();
    expect(among('bank', { id: 'named', name: 'Bank Holdings', rank: 900 })).toBeUndefined();
    expect(among('bank', { id: 'named', name: 'Named', formerly: ['Bank'], rank: 900 })).toBeUndefined();
    expect(
      among('cat', { id: 'caterpillar', name: 'Caterpillar', listings: ['CAT@XNYS'], rank: 1 })?.id,
    ).toBe('caterpillar');
  });

  test('a legal form is a ticker like any other word: in capitals, or if it is no English word', () => {
    const kestrel = { id: 'kestrel', name: 'Kestrel', listings: ['KG@XNAS', 'INC@XNAS'], rank: 1 };
    for (const identifier of ['KG', 'kg', 'INC', '$inc'])
      expect(among(identifier, kestrel)?.id).toBe('kestrel');
    for (const identifier of ['inc', 'Inc']) expect(among(identifier, kestrel)).toBeUndefined();
  });

  test.each(['inc', 'PLC', 'GmbH', 'the', 'Group', 'Holdings', 'The Company', 'Co., Ltd.', '株式会社'])(
    'a legal form or group word alone means a company only if it is the whole name: %j',
    (form) => {
      expect(
        among(form, { id: 'it', name: `The ${form}, Inc.`, names: ['Acme'], rank: 900 }),
      ).toBeUndefined();
      expect(among(form, { id: 'it', name: form, rank: 1 })?.id).toBe('it');
    },
  );

  test('a ticker with its exchange goes before the same text as a share class', () => {
    const london = { id: 'london', name: 'London', listings: ['X@XLON'], rank: 1 };
    const shares = { id: 'shares', name: 'Shares', listings: ['X-L@XNYS'], rank: 900 };
    expect(among('X.L', london, shares)?.id).toBe('london');
    expect(among('X.L', shares)?.id).toBe('shares');
    expect(among('X-L', london, shares)?.id).toBe('shares');
  });

  test('strength decides before rank, and rank before the smaller id', () => {
    const exact = { id: 'exact', name: 'Acme', rank: 400 };
    const legal = { id: 'legal', name: 'Acme Inc.', rank: 549 };
    const former = { id: 'former', name: 'Other', formerly: ['Acme'], rank: 900 };
    expect(among('acme', former, legal, exact)?.id).toBe('exact');
    expect(among('acme', former, legal)?.id).toBe('legal');
    expect(among('acme', { ...exact, id: 'low' }, { ...exact, id: 'high', rank: 401 })?.id).toBe('high');
    expect(among('acme', { ...exact, id: 'b' }, { ...exact, id: 'a' })?.id).toBe('a');
    expect(among('acme inc', legal, exact)?.id).toBe('legal');
  });

  test('a former name is weaker than any current name, even one without its legal form', () => {
    const former = { id: 'former', name: 'Other', formerly: ['Acme Inc.'], rank: 900 };
    expect(among('Acme Inc.', former, { id: 'current', name: 'Acme Corp.', rank: 1 })?.id).toBe('current');
  });

  test("a firm that is also a company means the company, whatever the manager's rank", () => {
    const company = { id: 'company', name: 'Berkshire Hathaway Inc.', rank: 1 };
    const manager = {
      id: 'manager',
      name: 'Warren Buffett',
      firm: 'Berkshire Hathaway',
      type: BrandType.SUPERINVESTOR,
      rank: 900,
    };
    expect(among('Berkshire Hathaway', manager, company)?.id).toBe('company');
    expect(among('Berkshire Hathaway', manager)?.id).toBe('manager');
  });

  test('share classes on the main venue are main listings, and elsewhere they are not', () => {
    const alphabet = {
      id: 'alphabet',
      name: 'Alphabet',
      listings: ['GOOGL@XNAS', 'ABEA@XETR', 'GOOG@XNGS', 'ABEC@XETR'],
    };
    expect(among('GOOG', alphabet)?.id).toBe('alphabet');
    expect(among('ABEC', alphabet)).toBeUndefined();
    expect(among('ABEC GR', alphabet)?.id).toBe('alphabet');
  });

  test('a preferred share of letters alone is found only with its exchange, unless it is the main listing', () => {
    const agnc = [candidate(brand({ id: 'agnc', name: 'AGNC', listings: ['AGNC@XNAS', 'AGNCP@XNAS'] }))];
    expect(resolve('AGNC', agnc, { superinvestors: false })?.id).toBe('agnc');
    expect(resolve('AGNCP', agnc, { superinvestors: false })).toBeUndefined();
    expect(resolve('NASDAQ:AGNCP', agnc, { superinvestors: false })?.id).toBe('agnc');
    const chs = [candidate(brand({ id: 'chs', name: 'CHS', listings: ['CHSCP@XNAS'] }))];
    expect(resolve('CHSCP', chs, { superinvestors: false })?.id).toBe('chs');
  });

  test('a listing on a venue that the table does not know is found by its MIC', () => {
    const listed = { id: 'listed', name: 'Listed', listings: ['ABC@XPTY'] };
    expect(among('XPTY:ABC', listed)?.id).toBe('listed');
    expect(among('ABC', listed)?.id).toBe('listed');
  });
});

const brandFromFewWords = fc
  .record({
    id: fc.stringMatching(/^[a-z]{1,3}$/),
    name: fc.constantFrom('Abc', 'Abc Inc.', 'The Abc', 'Xyz', 'Xyz SE'),
    formerly: fc.subarray(['Abc', 'Xyz Corp.']),
    listings: fc.subarray(['ABC@XNAS', 'ABC@XETR', 'XYZ@XLON', 'XYZ@XNYS+']),
    domains: fc.subarray(['abc.de', 'xyz.com']),
    rank: fc.integer({ min: 0, max: 3 }),
    type: fc.constantFrom(BrandType.STOCK, BrandType.BRAND, BrandType.SUPERINVESTOR),
    firm: fc.constantFrom('Abc', 'Xyz'),
  })
  .map(brand);
const brandsOfOneCatalogue = fc.uniqueArray(brandFromFewWords, { selector: ({ id }) => id, maxLength: 12 });
describe('a name together with a ticker means the company that has both', () => {
  const merck = brand({
    id: 'merck',
    name: 'Merck & Co.',
    names: ['Merck', 'Merck & Co., Inc.'],
    rank: 900,
    listings: ['MRK@XNYS'],
  });
  const merckGroup = brand({ id: 'merck-kgaa', name: 'Merck KGaA', rank: 800, listings: ['MRK@XETR'] });
  const more = [merck, merckGroup, brand({ id: 'alone', name: 'Kestrel (KES)', listings: ['XKES@XLON'] })];
  const idOf = (identifier: string) =>
    resolve(identifier, [...catalogue, ...more].map(candidate), { superinvestors: true })?.id;

  test.each([
    ['Apple (AAPL)', 'apple'],
    ['apple (aapl)', 'apple'],
    ['AAPL - Apple', 'apple'],
    ['Apple - AAPL', 'apple'],
    ['AAPL – Apple Inc.', 'apple'],
    ['AAPL | Apple', 'apple'],
    ['Apple Inc. (NASDAQ: AAPL)', 'apple'],
    ['Apple Inc.(NASDAQ:AAPL)', 'apple'],
    ['Apple Computer (AAPL)', 'apple'],
    ['Apple (APC.DE)', 'apple'],
    ['Apple (US0378331005)', 'apple'],
    ['Berkshire Hathaway (BRK.B)', 'berkshire-hathaway'],
    ['Toyota Motor (7203.T)', 'toyota'],
    ['トヨタ（7203）', 'toyota'],
    ['Toyota (NYSE: TM)', 'toyota'],
    ['Merck (MRK)', 'merck'],
    ['Merck KGaA (MRK)', 'merck-kgaa'],
    ['Merck (MRK.DE)', 'merck-kgaa'],
    ['Kestrel (KES)', 'alone'],
  ])('%j is %s', (identifier, id) => {
    expect(idOf(identifier)).toBe(id);
  });

  test.each([
    'Microsoft (AAPL)',
    'Toyota (AAPL)',
    'AAPL - Toyota',
    'Apple - Toyota',
    'Apple (Toyota)',
    'Apple (ZZZZ)',
    'Apple - AAPL - Nasdaq',
    'Merck & Co. (MRK.DE)',
    'Merck KGaA (NYSE: MRK)',
    '(AAPL) Apple',
  ])('%j means none, because not both parts do', (identifier) => {
    expect(idOf(identifier)).toBeUndefined();
  });

  test('the ticker is what matched', () => {
    const all = catalogue.map(candidate);
    expect(resolve('Apple Inc. (AAPL)', all, { superinvestors: false })).toEqual({
      id: 'apple',
      kind: 'ticker',
      value: 'AAPL',
      strength: 'exact',
      keys: ['ticker:AAPL'],
    });
  });

  test('in any catalogue it means a company that each part alone finds, too', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('abc', 'The Abc, Inc.', 'xyz se', 'Xyz'),
        fc.constantFrom('ABC', 'XYZ', 'ABC.DE', 'XYZ.L', 'NYSE:XYZ'),
        brandsOfOneCatalogue,
        (name, ticker, brands) => {
          const all = brands.map(candidate);
          const id = resolve(`${name} (${ticker})`, all, { superinvestors: false })?.id;
          fc.pre(id !== undefined);
          const alone = all.filter((each) => each.id === id);
          for (const part of [name, ticker])
            expect(resolve(part, alone, { superinvestors: false })?.id).toBe(id);
        },
      ),
    );
  });
});

describe('a former ticker finds its company only if nothing has the text now', () => {
  const meta = brand({ id: 'meta', name: 'Meta', rank: 970, listings: ['META@XNAS'], formerTickers: ['FB'] });
  const meantAmong = (identifier: string, ...others: Parameters<typeof brand>[0][]) =>
    resolve(identifier, [meta, ...others.map(brand)].map(candidate), { superinvestors: true });

  test('and is reported as a former one', () => {
    const found = { id: 'meta', kind: 'ticker', value: 'FB', strength: 'former', keys: ['ticker:FB'] };
    expect(meantAmong('FB')).toEqual(found);
    expect(meantAmong('$fb')).toEqual(found);
    expect(meantAmong('NASDAQ:FB')).toBeUndefined();
  });

  test.each([
    ['a main listing', { id: 'other', name: 'Other', rank: 1, listings: ['FB@XTSE'] }],
    [
      'another listing in the United States',
      { id: 'other', name: 'Other', rank: 1, listings: ['X@XTSE', 'FB@XNYS'] },
    ],
    ['a name', { id: 'other', name: 'FB', rank: 1 }],
    ['a name without its legal form', { id: 'other', name: 'FB Ltd', rank: 1 }],
    ['a former name', { id: 'other', name: 'Other', rank: 1, formerly: ['FB (1990–1999)'] }],
    ['a superinvestor', { id: 'other', name: 'FB', type: BrandType.SUPERINVESTOR, rank: 1 }],
  ])('not %s', (_, other) => {
    expect(meantAmong('FB', other)?.id).toBe('other');
  });

  test('of two, the better known one', () => {
    const known = { id: 'known', name: 'Known', rank: 990, formerTickers: ['FB'] };
    expect(meantAmong('FB', known)?.id).toBe('known');
  });
});

test('an American company without a known American listing is found by its ticker on Mexico’s board', () => {
  const amc = { id: 'amc', name: 'AMC Entertainment Holdings, Inc.', rank: 660, country: 'US' };
  const listings = ['AH9@XETR', 'AMC@XMEX'];
  const amur = brand({ id: 'amur', name: 'Amur Minerals Corporation', rank: 400, listings: ['AMC@XLON'] });
  const meant = (facts: Parameters<typeof brand>[0], other?: Brand) =>
    resolve('AMC', [brand(facts), ...(other ? [other] : [])].map(candidate), { superinvestors: false })?.id;
  expect(meant({ ...amc, listings })).toBe('amc');
  expect(meant({ ...amc, listings }, amur)).toBe('amc');
  expect(meant({ ...amc, listings, rank: 500 }, amur)).toBe('amur');
  expect(meant({ ...amc, listings }, brand({ id: 'named', name: 'AMC', rank: 1 }))).toBe('named');
  expect(meant({ ...amc, listings, country: 'BR' })).toBeUndefined();
  expect(meant({ ...amc, listings: [...listings, 'AMCX@XNYS'] })).toBeUndefined();
});

const identifierOfFewWords = fc.constantFrom(
  'abc',
  'ABC',
  'abc.de',
  'ABC.DE',
  'ABC US',
  'XYZ.L',
  'NYSE:XYZ',
  'xyz.com',
  'The Abc, Inc.',
  'xyz se',
);

test('the answer does not depend on the order of candidates or of their keys', () => {
  fc.assert(
    fc.property(
      identifierOfFewWords,
      brandsOfOneCatalogue.chain((brands) => {
        const some = brands.map(candidate);
        const shuffled = fc.shuffledSubarray(some, { minLength: some.length });
        return fc.tuple(fc.constant(some), shuffled);
      }),
      fc.boolean(),
      (identifier, [some, shuffled], superinvestors) => {
        const reversed = shuffled.map((each) => ({ ...each, keys: each.keys.toReversed() }));
        expect(resolve(identifier, reversed, { superinvestors })).toEqual(
          resolve(identifier, some, { superinvestors }),
        );
      },
    ),
  );
});

test('candidates with no key of any reading do not change the answer, and some such key always answers', () => {
  fc.assert(
    fc.property(
      identifierOfFewWords,
      brandsOfOneCatalogue,
      fc.boolean(),
      (identifier, brands, superinvestors) => {
        const wanted = new Set(readIdentifier(identifier, { superinvestors }).map(({ key }) => key));
        const all = brands.map(candidate);
        const fitting = all.filter(({ keys }) => keys.some(({ key }) => wanted.has(key)));
        const answer = resolve(identifier, all, { superinvestors });
        expect(answer).toEqual(resolve(identifier, fitting, { superinvestors }));
        expect(answer === undefined).toBe(fitting.length === 0);
      },
    ),
  );
});

describe('a firm of a superinvestor is found by the name that people use', () => {
  const investor = (name: string, firm: string, rank: number) =>
    brand({ id: name, name, type: BrandType.SUPERINVESTOR, manager: name, firm, rank });
  const all = [
    investor('Bill Ackman', 'Pershing Square Capital Management, L.P.', 800),
    investor('Seth Klarman', 'The Baupost Group, LLC', 680),
    investor('Li Lu', 'Himalaya Capital Management LLC', 600),
    investor('Leon Cooperman', 'Omega Advisors', 640),
    investor('George Soros', 'Soros Fund Management', 500),
    investor('Philippe Laffont', 'Coatue Management', 0),
    investor('Chase Coleman', 'Tiger Global Management LLC', 0),
    investor('Warren Buffett', 'Berkshire Hathaway', 950),
    brand({ id: 'berkshire-hathaway', name: 'Berkshire Hathaway', names: ['Berkshire'], rank: 850 }),
  ];
  const found = (identifier: string, ...more: Brand[]) =>
    resolve(identifier, [...all, ...more].map(candidate), everywhere);

  test.each([
    ['Pershing Square', 'Bill Ackman'],
    ['pershing square capital', 'Bill Ackman'],
    ['Baupost', 'Seth Klarman'],
    ['Himalaya Capital', 'Li Lu'],
    ['Soros', 'George Soros'],
    ['Coatue', 'Philippe Laffont'],
    ['Tiger Global', 'Chase Coleman'],
    ['Warren Buffett', 'Warren Buffett'],
    ['Berkshire', 'berkshire-hathaway'],
    ['Berkshire Hathaway', 'berkshire-hathaway'],
  ])('%s: %s', (identifier, id) => {
    expect(found(identifier)?.id).toBe(id);
    expect(resolve(identifier, all.slice(0, -1).map(candidate), { superinvestors: false })).toBeUndefined();
  });

  test.each(['Omega', 'Himalaya', 'Square', 'Capital', 'Group', 'Pershing'])(
    'but not by "%s"',
    (identifier) => {
      expect(found(identifier)).toBeUndefined();
    },
  );

  test('unless a company matches as well, or a second firm', () => {
    const holdings = brand({
      id: 'psh',
      name: 'Pershing Square Holdings, Ltd.',
      listings: ['PSH@XAMS'],
      rank: 400,
    });
    expect(found('Pershing Square', holdings)?.id).toBe('psh');
    expect(found('Pershing Square', investor('Jane Doe', 'Pershing Square Partners', 790))).toBeUndefined();
  });
});

test('a superinvestor resolves only by its names, and never if superinvestors are off', () => {
  fc.assert(
    fc.property(
      identifierOfFewWords,
      brandsOfOneCatalogue,
      fc.boolean(),
      (identifier, brands, superinvestors) => {
        const answer = resolve(identifier, brands.map(candidate), { superinvestors });
        const isManager = brands.some(
          ({ id, type }) => id === answer?.id && type === BrandType.SUPERINVESTOR,
        );
        if (!superinvestors) expect(isManager).toBe(false);
        if (answer !== undefined) expect(isManager).toBe(answer.kind === 'superinvestor');
      },
    ),
  );
});

test('if names differ only in their legal forms, the legal form in the identifier decides before rank', () => {
  const american = candidate(brand({ id: 'merck-us', name: 'Merck & Co., Inc.', rank: 950 }));
  const german = candidate(
    brand({ id: 'merck-de', name: 'Merck Kommanditgesellschaft auf Aktien', rank: 700 }),
  );
  const found = (identifier: string) =>
    resolve(identifier, [american, german], { superinvestors: false })?.id;
  expect(found('Merck KGaA')).toBe('merck-de');
  expect(found('merck kg a.a.')).toBe('merck-de');
  expect(found('Merck & Co Incorporated')).toBe('merck-us');
  expect(found('Merck')).toBe('merck-us');
  expect(found('Merck Corp.')).toBe('merck-us');
  expect(found('Merck PLC')).toBeUndefined();
});

test('a legal form of several is meant in every spelling', () => {
  const airline = candidate(brand({ id: 'airline', name: 'Delta', rank: 900 }));
  const indian = candidate(brand({ id: 'indian', name: 'Delta Corp Limited', rank: 580 }));
  for (const identifier of ['Delta Corp Ltd', 'Delta Corporation Limited', 'DELTA CORPORATION LTD.'])
    expect([identifier, resolve(identifier, [airline, indian], { superinvestors: false })?.id]).toEqual([
      identifier,
      'indian',
    ]);
});

test.each([
  ['Porsche SE', ['Dr. Ing. h.c. F. Porsche AG', 'Porsche']],
  ['Porsche SE', ['Porsche AG']],
  ['MERCK Kommanditgesellschaft auf Aktien', ['Merck & Co., Inc.', 'Merck & Co.']],
  ['merck kgaa', ['Merck & Co., Inc.']],
  ['Porsche SE', ['Porsche Holding AG']],
  ['Mc Donalds GmbH', ["McDonald's Corp."]],
  ['Nikki B.V.', ['Nikki Co., Ltd.']],
])('%s is none of %j, whose legal form is another', (identifier, [name = '', ...names]) => {
  const it = candidate(brand({ id: 'it', name, names, rank: 900 }));
  expect(resolve(identifier, [it], { superinvestors: false })).toBeUndefined();
});

test('a company may have had another legal form before', () => {
  const it = candidate(brand({ id: 'it', name: 'Acme', names: ['Acme SpA'], formerly: ['Acme Ges.m.b.H.'] }));
  expect(resolve('Acme Ges.m.b.H.', [it], { superinvestors: false })?.id).toBe('it');
  expect(resolve('Acme KGaA', [it], { superinvestors: false })).toBeUndefined();
  const others = ['Acme Inc.', 'Acme PLC'].map((name) => candidate(brand({ id: name, name })));
  const was = candidate(brand({ id: 'was', name: 'Was', formerly: ['Acme KGaA'] }));
  expect(resolve('Acme KGaA', [...others, was], { superinvestors: false })?.id).toBe('was');
});

test.each([
  ['Apple Corporation', 'Apple Inc.'],
  ['Merck & Co', 'Merck KGaA'],
  ['Barclays Limited', 'Barclays PLC'],
  ['Porsche SE', 'Porsche'],
  ['SAP AG', 'SAP SE'],
])('%s may be %s', (identifier, name) => {
  const it = candidate(brand({ id: 'it', name }));
  expect(resolve(identifier, [it], { superinvestors: false })?.id).toBe('it');
});

test.each([
  ['BANK OF AMERICA CORP /DE/', 'Bank of America', 'legal_form'],
  ['Bank of America', 'BANK OF AMERICA CORP /DE/', 'legal_form'],
  ['HSBC HOLDINGS PLC ORD $0.50 (UK REG)', 'HSBC Holdings plc', 'legal_form'],
  [
    'Alibaba Group Holding Limited American Depositary Shares each representing eight Ordinary share',
    'Alibaba Group Holding',
    'legal_form',
  ],
  ['INTL BUSINESS MACHS CORP', 'International Business Machines Corporation', 'legal_form'],
  ['Taiwan Semiconductor Manufacturing', 'TAIWAN SEMICONDUCTOR MFG CO LTD', 'legal_form'],
  ['REGENERON PHARMACEUTIC', 'Regeneron Pharmaceuticals, Inc.', 'legal_form'],
  ['SCHWAB CHARLES CORP', 'The Charles Schwab Corporation', 'spacing'],
  ['SMITH A O CORP', 'A. O. Smith', 'spacing'],
  ['LAUDER ESTEE COS INC', 'The Estee Lauder Companies Inc.', 'spacing'],
  ['LOUISIANA PAC CORP', 'Louisiana-Pacific Corporation', 'spacing'],
  ['ROYAL BK CDA', 'Royal Bank of Canada', 'spacing'],
  ['BK OF AMERICA CORP', 'Bank of America Corporation', 'spacing'],
  ['LABORATORY CORP AMER HLDGS', 'Laboratory Corporation of America Holdings', 'spacing'],
  ['CANADIAN NAT RES LTD', 'Canadian Natural Resources Limited', 'spacing'],
  ['DT.TELEKOM AG NA', 'Deutsche Telekom AG', 'spacing'],
  ['DEUTSCHE BOERSE NA O.N.', 'Deutsche Borse AG', 'spacing'],
  ['SIEMENS N AG', 'Siemens AG', 'legal_form'],
  ['NESTLE SA-REG', 'Nestlé S.A.', 'legal_form'],
  ['Novo Nordisk (B)', 'Novo Nordisk A/S', 'legal_form'],
])('%j finds %j', (identifier, name, strength) => {
  const it = candidate(brand({ id: 'it', name }));
  expect(resolve(identifier, [it], { superinvestors: false })).toMatchObject({ id: 'it', strength });
});

test.each([
  ['Acme Corp. Warrants', 'Acme Corp.'],
  ['Acme Product', 'Acme Products'],
  ['Lockheed Martin', 'Martin Lockheed'],
  ['Vitamin C', 'C Vitamin'],
  ['Pac Inc.', 'Pacific Inc.'],
  ['AEON', 'Aon plc'],
  ['^DJI', 'DJI'],
  ['.DJI', 'DJI'],
  ['NAT RES', 'National Research Corporation'],
])('%j does not find %j', (identifier, name) => {
  const it = candidate(brand({ id: 'it', name }));
  expect(resolve(identifier, [it], { superinvestors: false })).toBeUndefined();
});

test.each([
  ['SCHWAB CHARLES CORP', 'Charles Schwab', 'Charles Schwab'],
  ['ACME RES INC', 'Acme Resources Inc.', 'Acme Research Inc.'],
  ['Acme Boerse', 'Acme Borse AG', 'Acme Borse Corp.'],
])('%j, which no company is called, finds none of two that it may stand for', (identifier, ...names) => {
  const two = names.map((name, index) =>
    candidate(brand({ id: `it-${index}`, name, rank: index === 0 ? 900 : 400 })),
  );
  expect(resolve(identifier, two, { superinvestors: false })).toBeUndefined();
});

test('a company whose name is written out precedes what its abbreviation may stand for', () => {
  const two = ['Acme Res Inc.', 'Acme Resources Inc.'].map((name, index) =>
    candidate(brand({ id: name, name, rank: index * 900 })),
  );
  expect(resolve('ACME RES INC', two, { superinvestors: false })?.id).toBe('Acme Res Inc.');
});
