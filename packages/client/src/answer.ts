import type { MatchKind, MatchStrength } from './gen/types.ts';

/** One limit of the account's plan, as the gateway that answered knew it. */
export interface Limit {
  /** Calls in the whole period. */
  allowance: number;
  /** Calls that are left in the period. The gateway's estimate. */
  remaining: number;
  /** Seconds until the next period begins, when the answer was made. */
  resetsIn: number;
}

/** The facts in the headers of an answer, which may be a record or an error. */
export interface AnswerFacts {
  /** Id of the request. Name it when you report a problem to the operator. */
  requestId: string | undefined;
  /**
   * Whether the call counted against the quota. On a 503, `true` also means that the gateway does not know it. undefined if the
   * answer does not say, as for usage.
   */
  charged: boolean | undefined;
  /** Calls of the month. undefined while the gateway does not know them. */
  quota: Limit | undefined;
  /** Calls of the second, if the plan or the key limits them. */
  rate: Limit | undefined;
}

export interface Answer<T> extends AnswerFacts {
  data: T;
}

/** How a record was found. */
export interface Match {
  kind: MatchKind | (string & {});
  /** The record's identifier that matched, such as "AAPL". */
  value: string;
  strength: MatchStrength | (string & {});
}

/** A source of facts of a record. */
export interface RecordSource {
  name: string;
  /** The day at which its facts were true: YYYY, YYYY-MM or YYYY-MM-DD. If they are of several days, the newest one. */
  date: string | undefined;
  /** The oldest of several days. */
  oldest: string | undefined;
}

export interface RecordAnswer<T> extends Answer<T> {
  match: Match | undefined;
  /** Where the record comes from. Empty if that is not known. */
  sources: RecordSource[];
  /** The day of the record's price, as a source's date. undefined if there is no price, or if the day is not known. */
  priceDate: string | undefined;
  /** When the record last changed, if that is known. */
  lastModified: Date | undefined;
}

export function answerFacts(headers: Headers): AnswerFacts {
  const charged = headers.get('X-Quota-Charged');
  return {
    requestId: headers.get('X-Request-Id') ?? undefined,
    charged: charged === null ? undefined : charged === '1',
    quota: limitOf(headers, 'month'),
    rate: limitOf(headers, 'second'),
  };
}

/** A field of RateLimit-Policy is `"month";q=50000;w=2592000`, one of RateLimit `"month";r=49958;t=907200`. */
function limitOf(headers: Headers, period: 'month' | 'second'): Limit | undefined {
  const policy = new RegExp(`"${period}";q=([\\d.]+)`).exec(headers.get('RateLimit-Policy') ?? '');
  const state = new RegExp(`"${period}";r=(\\d+);t=(\\d+)`).exec(headers.get('RateLimit') ?? '');
  if (policy === null || state === null) return undefined;
  return { allowance: Number(policy[1]), remaining: Number(state[1]), resetsIn: Number(state[2]) };
}

/** Brand-Data is `sources=("one";date="2026-11-22" %"%c3%bc"), price_date="2026-08-21"`, an RFC 9651 dictionary like Brand-Match. */
export function dataFacts(
  headers: Headers,
): Pick<RecordAnswer<unknown>, 'sources' | 'priceDate' | 'lastModified'> {
  const modified = Date.parse(headers.get('Last-Modified') ?? '');
  const data = headers.get('Brand-Data') ?? '';
  const priced = /(?:^|, )price_date="([\d-]+)"$/.exec(data);
  const items = data
    .slice(0, priced?.index)
    .matchAll(/(?:"((?:[^"\\]|\\.)*)"|%"([^"]*)")(?:;date="([\d-]+)")?(?:;oldest="([\d-]+)")?/g);
  return {
    sources: [...items].flatMap(([, ascii, displayed, date, oldest]) => {
      const name = textOf(ascii, displayed);
      return name === undefined ? [] : { name, date, oldest };
    }),
    priceDate: priced?.[1],
    lastModified: Number.isNaN(modified) ? undefined : new Date(modified),
  };
}

/** Returns the text of a String or of a Display String. */
function textOf(ascii: string | undefined, displayed = ''): string | undefined {
  try {
    return ascii?.replace(/\\(.)/g, '$1') ?? decodeURIComponent(displayed);
  } catch {
    // These facts are beside the record: a Display String that is none must not cost the record.
    return undefined;
  }
}

/** The header is a dictionary of RFC 9651. A value beyond ASCII is a Display String: `%"f%c3%bc"`. */
export function matchOf(headers: Headers): Match | undefined {
  const form = /^kind=([\w-]+), value=(?:"((?:[^"\\]|\\.)*)"|%"([^"]*)"), strength=([\w-]+)/;
  const parts = form.exec(headers.get('Brand-Match') ?? '');
  if (parts === null) return undefined;
  const [, kind = '', ascii, displayed, strength = ''] = parts;
  const value = textOf(ascii, displayed);
  return value === undefined ? undefined : { kind, value, strength };
}

/** Seconds, from the header Retry-After. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('Retry-After') ?? '';
  return /^\d+$/.test(text) ? Number(text) : undefined;
}
