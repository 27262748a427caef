import { Brand, BrandType } from '@brand-data/contracts';
import { presentFlat, presentGrouped } from '@brand-data/presenters';
import records from './fixtures.json' with { type: 'json' };

/** An invented listed company with every field of the grouped record (packages/presenters/README.md). */
export const fullStock = { ...records.fullStock, type: BrandType.STOCK };

/** An invented merchant with few fields. Its logo is a monogram. */
export const bareMerchant = { ...records.bareMerchant, type: BrandType.BRAND };

/** An invented portfolio manager with every field of a superinvestor. */
export const fullManager = { ...records.fullManager, type: BrandType.SUPERINVESTOR };

type Fixture = Parameters<typeof Brand.fromPartial>[0];

/** Returns the answer of the grouped route for a record. */
export const groupedAnswer = (record: Fixture, logoHost: string, monogramKey = '') =>
  presentGrouped(Brand.fromPartial(record), { logoHost, monogramKey });

/** Returns the answer of the flat route for a record. */
export const flatAnswer = (record: Fixture, logoHost: string, monogramKey = '') =>
  presentFlat(Brand.fromPartial(record), { logoHost, monogramKey });
