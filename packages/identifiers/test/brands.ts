import { Brand, BrandType, type Listing } from '@brand-data/contracts';
import { type Candidate, keysOfBrand } from '../src/index.ts';

interface Facts {
  readonly id: string;
  readonly name: string;
  readonly type?: BrandType;
  readonly rank?: number;
  readonly names?: string[];
  readonly domains?: string[];
  /** "AAPL@XNAS"; with a "+" at its end it is primary. The main listing first. */
  readonly listings?: string[];
  readonly formerly?: string[];
  readonly websites?: string[];
  readonly manager?: string;
  readonly firm?: string;
}

export function brand(facts: Facts): Brand {
  const { listings, formerly = [], websites = [], manager = '', firm = '', ...rest } = facts;
  return Brand.fromPartial({
    type: listings === undefined ? BrandType.BRAND : BrandType.STOCK,
    rank: 500,
    ...rest,
    listings: (listings ?? []).map(listing),
    history: { formerly },
    links: { websites },
    manager: { portfolioManager: manager, firm },
  });
}

export function candidate(record: Brand): Candidate {
  return { id: record.id, rank: record.rank, keys: keysOfBrand(record) };
}

function listing(text: string): Listing {
  const [ticker = '', mic = ''] = text.replace(/\+$/, '').split('@');
  return { ticker, mic, primary: text.endsWith('+') };
}
