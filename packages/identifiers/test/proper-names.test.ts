import { normalName, properName } from '@brand-data/identifiers';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

test.each([
  ['Google', 'Google'],
  ['Apple Inc.', 'Apple'],
  ['The Walt Disney Company', 'Walt Disney'],
  ['Alibaba Group Holding Ltd.', 'Alibaba'],
  ['SoftBank Group Corp.', 'SoftBank'],
  ['Grupo Bimbo, S.A.B. de C.V.', 'Grupo Bimbo'],
  ['Société Générale S.A.', 'Société Générale'],
  ['McDonald’s Corporation', 'McDonald’s'],
  ['Ferrovie dello Stato S.p.A.', 'Ferrovie dello Stato'],
  ['Müller GmbH & Co. KG', 'Müller'],
  ['PT Astra International Tbk', 'Astra International'],
  ['ПАО Газпром', 'Газпром'],
  ['トヨタ自動車株式会社', 'トヨタ自動車'],
  ['株式会社 ローソン', 'ローソン'],
  ['腾讯控股有限公司', '腾讯'],
  ['삼성전자 주식회사', '삼성전자'],
  ['شركة الاتصالات السعودية', 'الاتصالات السعودية'],
  ['  HP Inc. ', 'HP'],
  ['Inc.', 'Inc.'],
  ['Group', 'Group'],
  ['!', '!'],
])('the proper name of %s is %s', (name, proper) => {
  expect(properName(name)).toBe(proper);
});

test('of every name, a proper name is left, and is a part of it', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'The',
      'Group',
      'Holdings',
      'Inc.',
      'Co.',
      'Ltd.',
      '&',
      'Acme',
      'Æon',
      '株式会社',
      'S.p.A.',
    ),
    fc.string({ unit: 'grapheme' }),
  );
  const name = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
  return fc.assert(
    fc.property(name, (text) => {
      const proper = properName(text);
      expect(proper === '').toBe(text.trim() === '');
      expect(normalName(text)).toContain(normalName(proper));
    }),
  );
});
