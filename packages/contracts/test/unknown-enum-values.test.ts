import { BinaryWriter } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as contracts from '../src/index.ts';

const { Brand, BrandType, LookupResponse, LookupResult, Match, MatchKind, MatchStrength, Pool, Route } =
  contracts;

const VARINT = 0;
const BYTES = 2;
const tagOf = (field: number, wireType: number) => (field << 3) | wireType;
/** A message with one more field, whose enum value no version knows. The last value of a field counts. */
const withUnknownValue = (message: BinaryWriter, field: number) =>
  message.uint32(tagOf(field, VARINT)).int32(99).finish();

/** How messages read each enum, by its name: "tokenRefusal". */
const READERS = Object.entries(contracts).flatMap(([name, read]) =>
  name.endsWith('FromJSON')
    ? [[name.slice(0, -'FromJSON'.length), read as (value: number) => string] as const]
    : [],
);

test('every enum reads a value that it does not know as UNSPECIFIED, which is its value 0', () => {
  expect(READERS.map(([name]) => name)).toContain('matchStrength');
  for (const [, read] of READERS) {
    expect(read(0)).toMatch(/^[A-Z_]+_UNSPECIFIED$/);
    const numbers = fc.oneof(fc.integer({ min: 100 }), fc.integer({ max: -1 }));
    fc.assert(
      fc.property(numbers, (unknown) => {
        expect(read(unknown)).toBe(read(0));
      }),
    );
  }
});

test('an unknown value changes nothing else in its message, nor in the other answers of a batch', () => {
  const match = { kind: MatchKind.TICKER, value: 'ACME', strength: MatchStrength.EXACT };
  const brand = Brand.fromPartial({ id: 'acme', name: 'Acme', type: BrandType.STOCK });
  const known = LookupResult.fromPartial({ brand, match });
  const bytes = new BinaryWriter()
    .uint32(tagOf(1, BYTES))
    .bytes(
      new BinaryWriter()
        .uint32(tagOf(1, BYTES))
        .bytes(withUnknownValue(Brand.encode(brand), 2))
        .uint32(tagOf(2, BYTES))
        .bytes(withUnknownValue(Match.encode(match), 3))
        .finish(),
    )
    .uint32(tagOf(1, BYTES))
    .bytes(LookupResult.encode(known).finish())
    .finish();
  expect(LookupResponse.decode(bytes).results).toEqual([
    {
      ...known,
      brand: { ...brand, type: BrandType.UNSPECIFIED },
      match: { ...match, strength: MatchStrength.UNSPECIFIED },
    },
    known,
  ]);
});

test('an unknown value in a list takes no other value of the list with it', () => {
  const pool = Pool.fromPartial({ name: 'calls', routes: [Route.BRANDS] });
  const bytes = withUnknownValue(Pool.encode(pool), 3);
  expect(Pool.decode(bytes)).toEqual({ ...pool, routes: [Route.BRANDS, Route.UNSPECIFIED] });
});
