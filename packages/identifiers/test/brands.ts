import { Brand, BrandType, Listing } from '@brand-data/contracts';
import { type Candidate, keysOfBrand, lookupRank } from '../src/index.ts';

interface Facts {
  readonly id: string;
  readonly name: string;
  readonly type?: BrandType;
  readonly rank?: number;
  readonly names?: string[];
  readonly domains?: string[];
  /** Listings such as "AAPL@XNAS", the main listing first. A "+" at the end marks a listing as primary. */
  readonly listings?: (string | Partial<Listing>)[];
  readonly isin?: string;
  /** ISO 3166-1 alpha-2. */
  readonly country?: string;
  readonly cusip?: string;
  readonly lei?: string;
  readonly formerly?: string[];
  readonly formerTickers?: string[];
  readonly websites?: string[];
  readonly manager?: string;
  readonly firm?: string;
  /** Whether nothing but names and addresses are known, as of an icon. All other brands have a sector. */
  readonly bare?: boolean;
}

export function brand(facts: Facts): Brand {
  const {
    listings,
    formerly = [],
    formerTickers = [],
    websites = [],
    manager = '',
    firm = '',
    bare,
    country = '',
    ...more
  } = facts;
  const { isin = '', cusip = '', ...rest } = more;
  return Brand.fromPartial({
    type: listings === undefined ? BrandType.BRAND : BrandType.STOCK,
    rank: 500,
    ...rest,
    listings: (listings ?? []).map(listing),
    stock: { isin, cusip },
    company: bare ? {} : { sector: 'Industrials', headquarters: { countryCode: country } },
    history: { formerly, formerTickers },
    links: { websites },
    manager: { portfolioManager: manager, firm },
  });
}

export function candidate(record: Brand): Candidate {
  return { id: record.id, rank: lookupRank(record), keys: keysOfBrand(record) };
}

function listing(text: string | Partial<Listing>): Listing {
  if (typeof text !== 'string') return Listing.fromPartial(text);
  const [ticker = '', mic = ''] = text.replace(/\+$/, '').split('@');
  return Listing.fromPartial({ ticker, mic, primary: text.endsWith('+') });
}
