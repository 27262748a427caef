import { Brand, BrandType, Listing } from '@brand-data/contracts';
import { type Candidate, keysOfBrand, lookupRank } from '../src/index.ts';

type Facts = Pick<Brand, 'id' | 'name'> &
  Partial<Pick<Brand, 'type' | 'rank' | 'names' | 'domains' | 'lei'>> &
  Partial<Record<'isin' | 'cusip' | 'country' | 'manager' | 'firm', string>> &
  Partial<Record<'formerly' | 'formerTickers' | 'websites', string[]>> & {
    /** Listings such as "AAPL@XNAS", the main listing first. A "+" at the end marks a listing as primary. */
    listings?: (string | Partial<Listing>)[];
    /** Whether nothing but names and addresses are known, as of an icon. All other brands have a sector. */
    bare?: boolean;
  };

export function brand({ isin = '', cusip = '', country = '', ...facts }: Facts): Brand {
  const { listings, formerly = [], formerTickers = [], websites = [], bare, ...more } = facts;
  const { manager = '', firm = '', ...rest } = more;
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
