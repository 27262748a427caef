import { expect, test } from 'vitest';
import { compareLegalFamilies, legalFamiliesOf } from '../src/index.ts';

const compare = (a: string, b: string) => compareLegalFamilies(legalFamiliesOf(a), legalFamiliesOf(b));

test.each([
  ['Merck KGaA', 'Merck & Co., Inc.', 'clash'],
  ['Kestrel SE', 'Kestrel Inc.', 'clash'],
  ['Kestrel AG', 'Kestrel plc', 'clash'],
  ['Kestrel Corp.', 'Kestrel plc', 'clash'],
  ['Kestrel N.V.', 'Kestrel S.p.A.', 'clash'],
  ['Kestrel AB', 'Kestrel ASA', 'clash'],
  ['Kestrel SE', 'Kestrel Ltd', 'clash'],
  ['Kestrel AG', 'Kestrel SE', 'converted'],
  ['Kestrel AB', 'Kestrel Abp', 'converted'],
  ['Kestrel L.P.', 'Kestrel Inc.', 'converted'],
  ['Apple Inc.', 'Apple Corporation', 'compatible'],
  ['Kestrel Ltd', 'Kestrel Limited', 'compatible'],
  ['Kestrel Ltd', 'Kestrel PLC', 'compatible'],
  ['Kestrel Public Limited Company', 'Kestrel plc', 'compatible'],
  ['Nestlé S.A.', 'NESTLE SA', 'compatible'],
  ['Nestlé S.A.', 'Nestlé Ltd', 'compatible'],
  ['Kestrel AG', 'Kestrel', 'compatible'],
  ['Nokia Oyj', 'Nokia Corporation', 'compatible'],
  ['Konecranes Oyj', 'Konecranes Plc', 'compatible'],
  ['トヨタ自動車株式会社', 'Toyota Motor Corporation', 'compatible'],
  ['Ericsson AB', 'Ericsson Inc.', 'compatible'],
  ['Kestrel Co., Ltd.', 'Kestrel Inc.', 'compatible'],
  ['Eaton Corp. plc', 'Eaton Corporation', 'compatible'],
  ['Eaton Corp. plc', 'Eaton plc', 'compatible'],
  ['America Móvil, S.A.B. de C.V.', 'America Movil SA', 'compatible'],
  ['Alphabet Inc. Class A Common Stock', 'Alphabet plc', 'clash'],
])('the legal forms of "%s" and "%s": %s', (one, other, agreement) => {
  expect(compare(one, other)).toBe(agreement);
  expect(compare(other, one)).toBe(agreement);
});
