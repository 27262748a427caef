import { exchangeOfMic } from '@brand-data/identifiers';
import { readListing } from '../../formats/listing.ts';
import type { ItemNumber } from './entity.ts';

/**
 * The MICs of exchanges, by item number, as far as they are certain. For any other exchange the MIC in the dump (P7534) is
 * used. If the dump has none, the exchange's listings are left out.
 */
const MICS: ReadonlyMap<ItemNumber, string> = new Map([
  [82059, 'XNAS'],
  [69336177, 'XNAS'],
  [13677, 'XNYS'],
  [846626, 'XASE'],
  [10593835, 'ARCX'],
  [1930860, 'OTCM'],
  [818723, 'XTSE'],
  [7671764, 'XTSX'],
  [5013179, 'XCNQ'],
  [891559, 'XMEX'],
  [796297, 'BVMF'],
  [891560, 'XBUE'],
  [891561, 'XSGO'],
  [2387368, 'XBOG'],
  [2380045, 'XLIM'],
  [819468, 'XETR'],
  [151139, 'XFRA'],
  [558524, 'XSTU'],
  [681683, 'XMUN'],
  [571760, 'XBER'],
  [1019978, 'XDUS'],
  [93361383, 'XHAM'],
  [93361385, 'XHAN'],
  [107188914, 'XGAT'],
  [698535, 'XWBO'],
  [661834, 'XSWX'],
  [171240, 'XLON'],
  [438511, 'XLON'],
  [144458, 'XDUB'],
  [2385849, 'XPAR'],
  [478720, 'XAMS'],
  [1146518, 'XBRU'],
  [2415561, 'XLIS'],
  [74662, 'XLUX'],
  [936563, 'XMIL'],
  [617426, 'XMAD'],
  [755341, 'XATH'],
  [1019992, 'XSTO'],
  [1019983, 'XCSE'],
  [581755, 'XHEL'],
  [1674303, 'XICE'],
  [909158, 'XOSL'],
  [1433248, 'XTAL'],
  [1624698, 'XRIS'],
  [600958, 'XLIT'],
  [59551, 'XWAR'],
  [1752646, 'XPRA'],
  [851259, 'XBUD'],
  [1003245, 'XBSE'],
  [1407995, 'XIST'],
  [1507974, 'XTAE'],
  [2006583, 'XSAU'],
  [1973019, 'XDFM'],
  [4119825, 'XADS'],
  [4164626, 'XKUW'],
  [2509254, 'XCAI'],
  [627514, 'XJSE'],
  [217475, 'XTKS'],
  [1188840, 'XNGO'],
  [496672, 'XHKG'],
  [739514, 'XSHG'],
  [517750, 'XSHE'],
  [548621, 'XTAI'],
  [495364, 'XKRX'],
  [495372, 'XKRX'],
  [491503, 'XKOS'],
  [638740, 'XNSE'],
  [638398, 'XBOM'],
  [1515558, 'XSES'],
  [43335, 'XKLS'],
  [1330208, 'XBKK'],
  [1661737, 'XIDX'],
  [1526647, 'XPHS'],
  [2922455, 'XSTC'],
  [732670, 'XASX'],
  [627019, 'XNZE'],
]);

/** Returns the venue's MIC. `ownMics` are the MICs that the dump gives the item. Undefined if the venue is unknown. */
export function micOfExchange(item: ItemNumber, ownMics: readonly string[]): string | undefined {
  const known = MICS.get(item) ?? ownMics.find((mic) => exchangeOfMic(mic) !== undefined) ?? ownMics[0];
  return known === undefined ? undefined : (exchangeOfMic(known)?.mic ?? known);
}

/** Returns the ticker in the form of listings, without the exchange before a colon. Undefined if the text is not a ticker. */
export function tickerAt(mic: string, text: string): string | undefined {
  const ticker = readListing(text.replace(/^.*:/, ''), mic)?.ticker ?? '';
  return /^[A-Z0-9][A-Z0-9.&-]{0,19}$/.test(ticker) ? ticker : undefined;
}
