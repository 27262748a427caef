/**
 * The allowance that accounts signs (services/metering/README.md, "Allowances"): a JSON Web Token, signed with EdDSA. A gateway
 * passes it on in Acquire, and cannot change it.
 */

export const ALLOWANCE_TYPE = 'allowance+jwt';
export const ALLOWANCE_ISSUER = 'brand-data/accounts';
export const ALLOWANCE_AUDIENCE = 'brand-data/metering';

/**
 * An allowance is valid for this long. It is longer than the ten minutes for which gateways trust a token without accounts, so that
 * every trusted token has a valid allowance.
 */
export const ALLOWANCE_LASTS_MS = 15 * 60_000;
/** The clocks of accounts and metering may differ by this much. */
export const ALLOWANCE_CLOCKS_APART_MS = 60_000;

/** What accounts says about one account. */
export interface SignedAllowance {
  accountId: string;
  /** The revision of the account's plan that set the limits. */
  limitRevision: number;
  /** The calls a month of each pool. */
  limits: ReadonlyMap<string, number>;
  /** Until when it is valid by accounts' clock, in milliseconds since 1970. */
  untilMs: number;
}

/** The claims of the token, besides the registered ones `iss`, `aud`, `iat` and `exp`. */
export interface AllowanceClaims {
  /** The account's id. */
  sub: string;
  revision: number;
  /** The calls a month, by pool. */
  pools: Record<string, number>;
}
