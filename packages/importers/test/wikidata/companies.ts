import { amount, entity, item, local, named, novalue, place, somevalue, text, time } from './entities.ts';

/** Companies, and the items that they refer to, as they were in June 2025. */

const PUBLIC = item('Q891723');
const BUSINESS = item('Q4830453');

export const companies = [
  entity('Q312', {
    labels: { en: 'Apple Inc.', de: 'Apple', ja: 'Apple' },
    descriptions: { en: 'American multinational technology company' },
    aliases: { en: ['Apple', 'Apple Computer, Inc.'], de: ['Apple Computer'] },
    enwiki: 'Apple Inc.',
    wikis: ['dewiki', 'jawiki', 'commonswiki', 'enwikiquote'],
    claims: {
      P31: [BUSINESS, PUBLIC, item('Q18388277')],
      P17: item('Q30'),
      P159: [{ is: item('Q189471'), with: { P625: place(37.3349, -122.009) } }],
      P571: time('1976-04-01'),
      P112: [item('Q19837'), item('Q483382'), item('Q332591')],
      P169: [
        { is: item('Q19837'), with: { P580: time('1997'), P582: time('2011-08-24') } },
        { is: item('Q265852'), rank: 'preferred', with: { P580: time('2011-08-24') } },
        { is: item('Q999999'), rank: 'deprecated' },
      ],
      P3320: [
        { is: item('Q265852') },
        { is: item('Q19873'), with: { P582: time('2017-05-01') } },
        { is: novalue },
      ],
      P1128: [
        { is: amount('+161000'), with: { P585: time('2023-09-30') } },
        { is: amount('+164000'), with: { P585: time('2024-09-28') } },
      ],
      P414: [{ is: item('Q82059'), with: { P249: text('AAPL'), P580: time('1980-12-12') } }],
      P946: text('US0378331005'),
      P1278: text('HWUPKR0MPOU8FGXBT394'),
      P361: [item('Q242345'), item('Q2283')],
      P452: [item('Q11661')],
      P1448: [
        {
          is: local('en', 'Apple Computer, Inc.'),
          with: { P580: time('1977-01-03'), P582: time('2007-01-09') },
        },
        { is: local('en', 'Apple Inc.'), with: { P580: time('2007-01-09') } },
      ],
      P856: [text('https://www.apple.com/jp/'), { is: text('https://www.apple.com/'), rank: 'preferred' }],
      P2002: text('Apple'),
      P2397: text('UCE_M8A5yxnLfW0KghEeajjw'),
      P154: text('Apple logo black.svg'),
      P749: { ...item('Q312'), value: null },
    },
  }),
  entity('Q8093', {
    labels: { en: 'Nintendo', ja: '任天堂', de: 'Nintendo' },
    enwiki: 'Nintendo',
    wikis: ['jawiki'],
    modified: '2026-07-30T00:00:00Z',
    claims: {
      P31: [BUSINESS, item('Q210167')],
      P17: item('Q17'),
      P159: item('Q34600'),
      P571: time('1889-09-23'),
      P1448: local('ja', '任天堂株式会社'),
      P414: [{ is: item('Q217475'), with: { P249: text('7974'), P580: time('1983-07') } }],
      P946: text('JP3756600007'),
    },
  }),
  named('Q217583', 'Berkshire Hathaway', {
    P31: [item('Q778575')],
    P17: item('Q30'),
    P159: item('Q43199'),
    P414: [{ is: item('Q13677'), with: { P249: [text('BRK.A'), text('BRK.B')] } }],
    P946: [text('US0846701086'), text('US0846707026')],
  }),
  entity('Q860580', {
    labels: { en: 'Tencent', zh: '腾讯' },
    claims: {
      P31: [PUBLIC],
      P17: item('Q148'),
      P159: item('Q15174'),
      P414: [
        { is: item('Q496672'), with: { P249: text('700') } },
        { is: item('Q4242424'), with: { P249: text('TCTZF') } },
      ],
    },
  }),
  entity('Q9325', {
    labels: { mul: 'Lufthansa', de: 'Lufthansa' },
    claims: {
      P31: [item('Q46970'), { is: PUBLIC }],
      P17: item('Q183'),
      P159: item('Q365'),
      P113: [item('Q46033'), item('Q131402')],
      P414: [{ is: item('Q151139'), with: { P249: text('LHA'), P582: novalue } }],
      P946: text('DE0008232125'),
    },
  }),
  named('Q151954', 'Lidl', {
    P31: [item('Q18043413')],
    P17: item('Q183'),
    P856: [text('https://www.lidl.de/'), text('https://www.facebook.com/lidl'), text('not an address')],
  }),
  named('Q14647', 'Sun Microsystems', {
    P31: [BUSINESS],
    P17: item('Q30'),
    P571: time('1982-02-24'),
    P576: time('2010-01-27'),
    P7888: item('Q19900'),
    P414: [{ is: item('Q82059'), with: { P249: text('JAVA') } }],
  }),
  named('Q19900', 'Oracle Corporation', {
    P31: [BUSINESS],
    P169: [{ is: item('Q265852'), with: { P582: somevalue } }],
    P571: time('1970s'),
    P414: [
      { is: item('Q82059'), with: { P249: text('ORCL'), P582: time('2013-07-15') } },
      { is: item('Q13677'), with: { P249: text('ORCL'), P580: time('2013-07-15') } },
    ],
  }),
];

const person = (id: string, name: string) => named(id, name, { P31: item('Q5') });

export const others = [
  person('Q19837', 'Steve Jobs'),
  person('Q265852', 'Tim Cook'),
  person('Q483382', 'Steve Wozniak'),
  person('Q332591', 'Ronald Wayne'),
  person('Q19873', 'Al Gore'),
  named('Q11661', 'information technology'),
  named('Q18388277', 'technology company'),
  named('Q210167', 'video game developer'),
  named('Q18043413', 'supermarket chain'),
  named('Q46970', 'airline'),
  named('Q242345', 'S&P 500', { P31: item('Q223371') }),
  named('Q2283', 'Microsoft'),
  named('Q46033', 'Frankfurt Airport', { P31: item('Q1248784'), P131: item('Q1794') }),
  named('Q131402', 'Munich Airport'),
  // Places: the city, and the places that contain it.
  named('Q189471', 'Cupertino', {
    P31: item('Q515'),
    P131: item('Q110739'),
    P17: item('Q30'),
    P625: place(37.32, -122.04),
  }),
  named('Q110739', 'Santa Clara County', { P131: item('Q99'), P17: item('Q30') }),
  named('Q99', 'California', { P300: text('US-CA'), P131: item('Q30') }),
  named('Q43199', 'Omaha', {
    P131: [{ is: item('Q484247'), rank: 'preferred' }, item('Q30')],
    P17: item('Q30'),
    P625: place(41.25, -96),
  }),
  named('Q484247', 'Douglas County', { P131: item('Q1553') }),
  named('Q1553', 'Nebraska', { P300: text('US-NE'), P131: item('Q30') }),
  named('Q34600', 'Kyoto', {
    P131: item('Q120730'),
    P17: item('Q17'),
    P1705: local('ja', '京都市'),
    P625: place(35.0117, 135.7683),
  }),
  named('Q120730', 'Kyoto Prefecture', {
    P300: text('JP-26'),
    P131: item('Q17'),
    P1705: local('ja', '京都府'),
  }),
  named('Q15174', 'Shenzhen', { P131: item('Q15175'), P17: item('Q148') }),
  named('Q15175', 'Guangdong', { P300: text('CN-GD'), P131: item('Q148') }),
  entity('Q365', {
    labels: { en: 'Cologne', de: 'Köln' },
    claims: { P131: item('Q1198'), P17: item('Q183') },
  }),
  named('Q1198', 'North Rhine-Westphalia', { P300: text('DE-NW'), P131: item('Q183') }),
  named('Q30', 'United States', {
    P31: item('Q3624078'),
    P297: text('US'),
    P37: item('Q1860'),
    P1705: local('en', 'United States'),
  }),
  named('Q17', 'Japan', {
    P31: item('Q3624078'),
    P297: text('JP'),
    P37: item('Q5287'),
    P1705: local('ja', '日本'),
  }),
  named('Q148', "People's Republic of China", { P297: text('CN'), P37: item('Q7850') }),
  named('Q183', 'Germany', { P297: text('DE'), P37: item('Q188') }),
  named('Q1860', 'English', { P218: text('en') }),
  named('Q5287', 'Japanese', { P218: text('ja') }),
  named('Q7850', 'Chinese', { P218: text('zh') }),
  named('Q188', 'German', { P218: text('de') }),
];

/** Entities that must not become records. */
export const strangers = [
  named('Q42', 'Douglas Adams', { P31: item('Q5'), P856: text('https://douglasadams.com/') }),
  named('Q2766', 'iPhone', { P31: item('Q10929058'), P1056: item('Q22645'), P452: item('Q11661') }),
  named('Q13371', 'Harvard University', {
    P31: item('Q3918'),
    P452: item('Q136822'),
    P1454: item('Q163740'),
    P414: somevalue,
  }),
  named('Q224664', 'Oracle', { P31: [item('Q4167410'), item('Q4830453')] }),
  named('Q7397', 'deprecated business', { P31: [{ is: item('Q4830453'), rank: 'deprecated' }] }),
  {
    type: 'property',
    datatype: 'wikibase-item',
    id: 'P31',
    labels: [],
    descriptions: [],
    aliases: [],
    claims: [],
  },
  { type: 'lexeme', id: 'L1', lemmas: { en: { language: 'en', value: 'company' } }, claims: [] },
  { entity: 'Q1000001', redirect: 'Q312' },
];
