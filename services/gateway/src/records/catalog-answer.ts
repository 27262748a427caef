import { MatchKind, MatchStrength, type NoCompany, type Suggestion } from '@brand-data/contracts';
import type { IdentifierKind } from '@brand-data/identifiers';
import type { Tagged } from '../answers/answer.ts';

export type Variant = 'grouped' | 'flat';

/** A presented record. */
export interface RecordBody extends Tagged {
  /** The URL of the logo, as a header may hold it. Only of flat records. */
  readonly logo?: string | undefined;
}

/** A record as callers get it for an identifier. */
export interface FoundRecord {
  /** All identifiers of a record share it. */
  content: RecordBody;
  readonly brandMatch: string;
  /** Last-Modified and Brand-Data, as far as catalog knows when the record changed and where it comes from. */
  readonly dataHeaders: Readonly<Record<string, string>>;
  /** Headers of its answers, by kind of answer (calls/call-headers.ts). */
  readonly heads: string[];
}

/** Catalog's answer about an identifier. */
export interface CatalogAnswer {
  /** undefined: the identifier matches no record. */
  readonly record: FoundRecord | undefined;
  /** Records that the caller may have meant, if the identifier matches none. */
  readonly suggestions: readonly Suggestion[];
  /** Whether the identifier matches a superinvestor, although this variant shows no superinvestors. */
  readonly namesSuperinvestor: boolean;
  /** What the identifier means, if that is no company. */
  readonly noCompany: NoCompany | undefined;
}

/** Returns the names in lower case that the values of an enum have in answers, by value. */
const namesOf = <Value extends string>(values: Record<string, Value>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [value, name.toLowerCase()])) as Record<
    Value,
    string
  >;

export const KIND = namesOf(MatchKind);

/** The value of each kind that callers name. */
export const MATCH_KIND = Object.fromEntries(
  Object.entries(KIND).map(([value, name]) => [name, value]),
) as Record<IdentifierKind, MatchKind>;
export const STRENGTH = namesOf(MatchStrength);
