import { isLegalFormAlone, normalName } from '../names/names.ts';
import { isPlace } from '../names/places.ts';
import { isGroupWordAlone } from '../names/weak-names.ts';

/**
 * English words that are a ticker somewhere, or some company's name without its legal form. Whoever writes them hardly ever means
 * an obscure company. The list has function words, legal forms, and words for what many companies are. Words that people know as
 * a ticker or a brand ("gold", "play", "open") are left out.
 */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  `a about after again all also always am an and any are as at be been but by can come could did do does each every for
  from get had has have he hello her hi him his how i if in into is it its just like made make many may me more
  most much must my near never new no not now of off oh ok on once one only or other our out over own see she should so some
  such than that the their them then there they this to too two under up us use very was way we well were what when where
  which who why will with would yes you your
  admin false nan none null test true undefined
  co companies company corp corporation gmbh group holding holdings inc limited llc ltd plc
  airline airlines bank banks business capital coffee computer credit data digital energy engineering finance financial
  funds global health healthcare industries industry insurance international internet investment investments management
  market media mining money national oil partners pharma phones power property realty resources restaurant retail services
  shop software solutions stock store systems technologies technology telecom trade trading trust web`.split(
    /\s+/,
  ),
);

/** Words that, like the names of countries, begin the names of many companies. */
const FIRST_WORDS: ReadonlySet<string> = new Set(
  `advanced allied american associated british central classic consolidated continental deutsche eastern environmental
  european federal first general german great imperial independent integrated modern new northern pacific premier
  professional royal southern standard super superior united universal western`.split(/\s+/),
);

/** Checks whether a text, alone, is the name of a country or an adjective with which the names of many companies begin. */
export function isFirstWordOfMany(text: string): boolean {
  const normal = normalName(text);
  return FIRST_WORDS.has(normal) || isPlace(normal);
}

/** Checks whether a text, alone, is a common word that is hardly ever meant as a ticker. Ignores upper and lower case. */
export function isCommonAsTicker(text: string): boolean {
  return COMMON_WORDS.has(normalName(text));
}

/**
 * Checks whether a text, alone, is hardly ever meant as a name: a common word, a legal form ("KGaA"), or a word such as "Group".
 */
export function isCommonAsName(text: string): boolean {
  return isCommonAsTicker(text) || isLegalFormAlone(text) || isGroupWordAlone(text);
}
