import {
  coreName,
  isInCapitals,
  legalFormOf,
  normalName,
  publishedName,
  withoutMarks,
} from '@brand-data/identifiers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

test.each([
  ['BANK OF AMERICA CORP /DE/', 'BANK OF AMERICA CORP'],
  ['QUALCOMM INC/DE', 'QUALCOMM INC'],
  ['COSTCO WHOLESALE CORP /NEW', 'COSTCO WHOLESALE CORP'],
  ['US BANCORP \\DE\\', 'US BANCORP'],
  ['Rivian Automotive, Inc. / DE', 'Rivian Automotive, Inc.'],
  ['Troops, Inc. /Cayman Islands/', 'Troops, Inc.'],
  ['TOYOTA MOTOR CORP/', 'TOYOTA MOTOR CORP'],
  ['CaixaBank/ADR', 'CaixaBank'],
  ['Pandora A/S / ADR', 'Pandora A/S'],
  ['Liberty Capital Corp/NV', 'Liberty Capital Corp'],
  ['SDH Corp (Cayman Islands)', 'SDH Corp'],
  ['Cisco Systems Inc. (DE)', 'Cisco Systems Inc.'],
  ['United Therapeutics (del.)', 'United Therapeutics'],
  ['COMMERCIAL INTERNATIONAL BANK (', 'COMMERCIAL INTERNATIONAL BANK'],
  ['DAETWYLER HOLDING AG DAETWYLER', 'DAETWYLER HOLDING AG'],
  ['Lazard LTD. Lazard, LTD.', 'Lazard LTD.'],
  ['STARWOOD PROPERTY TRUST, INC. Starwood Property Trust Inc.', 'STARWOOD PROPERTY TRUST, INC.'],
  ['Pimco High Income Fund Pimco High Income Fund', 'Pimco High Income Fund'],
  ['SPAREBANK 1 SR BANK ASA SPAREBA', 'SPAREBANK 1 SR BANK ASA'],
])('the mark of a registry is no part of %j', (name, plain) => {
  expect(withoutMarks(name)).toBe(plain);
});

test.each([
  ['SHELL PLC ORD EUR0.07', 'SHELL PLC'],
  ['RIO TINTO PLC ORD 10P', 'RIO TINTO PLC'],
  ['HSBC HOLDINGS PLC ORD $0.50 (UK REG)', 'HSBC HOLDINGS PLC'],
  ['TESLA INC. DL -,001', 'TESLA INC.'],
  ['CITIGROUP INC COM NEW', 'CITIGROUP INC'],
  ['META PLATFORMS INC CL A', 'META PLATFORMS INC'],
  ['SHOPIFY INC CL A SUB VTG SHS', 'SHOPIFY INC'],
  ['ASML HOLDING N V N Y REGISTRY SHS', 'ASML HOLDING'],
  ['WASTE MGMT INC DEL', 'WASTE MGMT INC'],
  ['Siemens AG Namens-Aktien o.N.', 'Siemens AG'],
  ['VOLKSWAGEN AG VORZUGSAKTIEN O.ST. O.N.', 'VOLKSWAGEN AG'],
  ['TOTALENERGIES SE ACTIONS AU PORTEUR EO 2,50', 'TOTALENERGIES SE'],
  ['ENEL AZ. ORDINARIE', 'ENEL'],
  ['Telefonica SA ACCIONES', 'Telefonica SA'],
  ['PETROBRAS PN N2', 'PETROBRAS'],
  ['Heineken N.V. AANDELEN OP NAAM', 'Heineken N.V.'],
  ['Saxo A/S AKTIER B', 'Saxo A/S'],
  ['ORLEN S.A. AKCJE NA OKAZICIELA', 'ORLEN S.A.'],
  ['SIEMENS N AG', 'SIEMENS AG'],
  ['ROCHE HOLDING PAR AG', 'ROCHE HOLDING AG'],
  ['ROCHE HOLDING AG-GENUSSCHEIN', 'ROCHE HOLDING AG'],
  ['ITAU UNIBANCO HOLDING PREF SA', 'ITAU UNIBANCO HOLDING SA'],
  ['NESTLE SA-REG', 'NESTLE SA'],
  ['NOVO-NORDISK A/S-SPONS ADR', 'NOVO-NORDISK A/S'],
  ['TECK RESOURCES LTD-CLS B', 'TECK RESOURCES LTD'],
  ['BYD CO. LTD H YC 1', 'BYD CO. LTD'],
  ['Volkswagen (Vz.)', 'Volkswagen'],
])('the description of the security is no part of %j', (name, plain) => {
  expect(withoutMarks(name)).toBe(plain);
});

test.each([
  'Terna - Rete Elettrica Nazionale Societa per Azioni',
  'Henkel AG & Co. Kommanditgesellschaft auf Aktien',
  'AC/DC',
  'Deutsche Bank AG (UK)',
  'New York New York',
  'Duran Duran',
  'Sea Ltd Seattle',
  'Anheuser-Busch InBev SA/NV',
  'Cullen/Frost Bankers, Inc.',
  'RE/MAX Holdings, Inc.',
  'Carlsberg A/S',
  'Falck K/S',
  'Data I/O Corp',
  'Google Ads',
  'MANULIFE FINANCIAL CORP PREF SE',
  'Preparation H',
  'Vitamin C',
  'Capital One',
  'Merck Kommanditgesellschaft auf Aktien',
  'Cowen & Co Capital',
  'Group 1',
  'ORD',
])('%j has neither a mark nor a description', (name) => {
  expect(withoutMarks(name)).toBe(name);
});

test('removing marks and descriptions twice is removing them once, and leaves a letter or digit', () => {
  const part = fc.constantFrom(
    'Acme',
    'INC',
    'PLC',
    'ORD',
    '/DE/',
    '\\',
    '/',
    'COM',
    'NEW',
    'EUR',
    '0,3',
    'A',
    '(',
    ',',
    '-',
  );
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 40 }),
      fc.constantFrom(' ', ''),
      (parts, between) => {
        const plain = withoutMarks(parts.join(between));
        expect(withoutMarks(plain)).toBe(plain);
        if (/[a-z0-9]/i.test(parts.join(''))) expect(plain).toMatch(/[a-z0-9]/i);
        expect(coreName(plain)).toBe(coreName(parts.join(between)));
      },
    ),
  );
});

test.each([
  ['VODAFONE GROUP PUBLIC LTD CO', 'vodafone group', 'plc'],
  ['HANA MICROELECTRONICS PUBLIC CO LTD /ADR/', 'hana microelectronics', 'pcl'],
  ['NOVO NORDISK A S', 'novo nordisk', 'as'],
  ['NATUZZI S P A', 'natuzzi', 'spa'],
  ['OCCIDENTAL PETROLEUM CORP /DE/', 'occidental petroleum', 'corp'],
])('the legal form of %s is known behind its marks', (name, core, form) => {
  expect(coreName(name)).toBe(core);
  expect(legalFormOf(name)).toBe(form);
});

describe('a published name', () => {
  test.each([
    ['OCCIDENTAL PETROLEUM CORP /DE/', 'Occidental Petroleum'],
    ['BANK OF AMERICA CORP /DE/', 'Bank of America'],
    ['NEWMONT Corp /DE/', 'Newmont'],
    ['KEYCORP /NEW/', 'KeyCorp'],
    ['NVIDIA CORP', 'NVIDIA'],
    ['AT&T INC.', 'AT&T'],
    ['INTL BUSINESS MACHINES CORP', 'International Business Machines'],
    ['3M CO', '3M'],
    ['L3HARRIS TECHNOLOGIES, INC. /DE/', 'L3Harris Technologies'],
    ['MCDONALDS CORP', 'McDonalds'],
    ["O'REILLY AUTOMOTIVE INC", "O'Reilly Automotive"],
    ["DILLARD'S, INC.", "Dillard's"],
    ['COCA-COLA CO', 'Coca-Cola'],
    ['DEERE & CO', 'Deere & Co.'],
    ['JOHN HANCOCK PREFERRED INCOME FUND II', 'John Hancock Preferred Income Fund II'],
    ['JACK IN THE BOX INC', 'Jack in the Box'],
    ['AMAZON COM INC', 'Amazon.com'],
    ['HP INC', 'HP'],
    ['UNITED INC', 'United Inc'],
    ['POWER CORP', 'Power Corp'],
    ['ING GROEP NV', 'ING Groep'],
    ['DE LA RUE PLC', 'De La Rue'],
    ['IMCD N.V.', 'IMCD'],
    ['SSAB AB', 'SSAB'],
    ['GLOBAL CANNABIS APPL. CORP', 'Global Cannabis Appl.'],
    ['DNO ASA', 'DNO'],
    ['ARCH CAPITAL GROUP LTD', 'Arch Capital Group'],
    ['ACME TECHN. LTD', 'Acme Technologies'],
  ])('of %j is %j', (name, published) => {
    expect(isInCapitals(name)).toBe(true);
    expect(publishedName(name)).toBe(published);
  });

  test.each([
    ['SCHWAB CHARLES CORP', 'Charles Schwab'],
    ['HUNT J B TRANSPORT SERVICES INC', 'J.B. Hunt Transport Services'],
    ['PRICE T ROWE GROUP INC', 'T. Rowe Price Group'],
    ['GALLAGHER ARTHUR J & CO', 'Arthur J. Gallagher & Co.'],
    ['LILLY ELI & CO', 'Eli Lilly & Co.'],
  ])('of %j, which begins with a surname, is %j', (name, published) => {
    expect(publishedName(name)).toBe(published);
  });

  test.each([
    ['LOCKHEED MARTIN CORP', 'Lockheed Martin'],
    ['KINDER MORGAN, INC.', 'Kinder Morgan'],
    ['MORGAN STANLEY', 'Morgan Stanley'],
    ['SAN JUAN BASIN ROYALTY TRUST', 'San Juan Basin Royalty Trust'],
    ['FAIR ISAAC CORP', 'Fair Isaac'],
  ])('of %j, which does not, is %j', (name, published) => {
    expect(publishedName(name)).toBe(published);
  });

  test.each([
    'Apple Inc.',
    'NVIDIA',
    'LANXESS Aktiengesellschaft',
    'eBay Inc.',
    'UNITED, Inc.',
    'ПАО ГАЗПРОМ',
    '株式会社ABC',
    '',
  ])('of %j is the name itself', (name) => {
    expect(isInCapitals(name)).toBe(false);
    expect(publishedName(name)).toBe(name);
  });

  test('has its legal form in small letters, if the name has', () => {
    expect(publishedName('Neuraxis, INC.')).toBe('Neuraxis, Inc.');
    expect(publishedName('ReoStar Energy CORP')).toBe('ReoStar Energy Corp');
  });

  test('has the words of the name', () => {
    const word = fc.constantFrom(
      'ACME',
      'OIL',
      'AND',
      'GAS',
      'IBM',
      "O'NEIL",
      'X-RAY',
      'X1',
      'II',
      'MCGREGOR',
    );
    fc.assert(
      // A list that repeats the beginning of the name behind it loses the repetition.
      fc.property(fc.uniqueArray(word, { minLength: 2, maxLength: 6 }), (words) => {
        expect(publishedName(words.join(' ')).toUpperCase()).toBe(words.join(' '));
      }),
    );
  });
});

test.each([
  ['AUTOMATIC DATA PROCESSING IN', 'automatic data processing'],
  ['Occidental Petroleum Corporatio', 'occidental petroleum'],
  ['Rotterdam C.V.', 'rotterdam'],
  ['Müller e.K.', 'muller'],
  ['Debeka VVaG', 'debeka'],
  ['Noerr PartG mbB', 'noerr'],
  ['Bolag HB', 'bolag'],
  ['Bolag KB', 'bolag'],
  ['Torghatten ANS', 'torghatten'],
  ['Torghatten DA', 'torghatten'],
  ['Falck K/S', 'falck'],
  ['Falck P/S', 'falck'],
  ['Virtanen Ky', 'virtanen'],
  ['Alfa E.P.E.', 'alfa'],
  ['Alfa IKE', 'alfa'],
  ['Alfa OE', 'alfa'],
  ['Kovács Bt.', 'kovacs'],
  ['Budapest Rt.', 'budapest'],
  ['Polska S.K.A.', 'polska'],
  ['Polska sp.j.', 'polska'],
  ['Meridian (OPC) Private Limited', 'meridian'],
  ['Karoo CC', 'karoo'],
  ['Open Joint Stock Company Gazprom', 'gazprom'],
  ['SIA Rimi', 'rimi'],
  ['UAB Maxima', 'maxima'],
  ['Innova, S. de R.L.', 'innova'],
  ['Innova SA de CV', 'innova'],
  ['Київстар ТОВ', 'киівстар'],
  ['Алтай ЖШС', 'алтаи'],
  ['Όμηρος Ι.Κ.Ε.', 'ομηροσ'],
  ['مصنع ذ.م.م', 'مصنع'],
])('the legal form of %j is removed', (name, core) => {
  expect(coreName(name)).toBe(core);
});

test.each([
  'KB Financial',
  'DA Davidson',
  'CC Land',
  'OE Energy',
  'Golden Keg',
  'Nike',
  'AB Foods',
  'Wichita KS',
  'Moody KY',
  'Groupe PSA',
  'Pao Pao',
  'Southern California Edison SCE',
])('%j has no legal form', (name) => {
  expect(coreName(name)).toBe(normalName(name));
});

test('OAO and Open Joint Stock Company are one legal form', () => {
  expect(legalFormOf('OAO Gazprom')).toBe(legalFormOf('Open Joint Stock Company Gazprom'));
});
