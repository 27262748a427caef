import { isIP } from 'node:net';
import { type IdentifierKind, SECURITY_KINDS } from '../keys/brand-key.ts';
import { readWebHost } from '../keys/domains.ts';
import { normalTicker } from '../keys/tickers.ts';
import { isCommonAsTicker } from '../names/common-words.ts';
import { INVISIBLE } from '../names/names.ts';
import { type Reading, type ReadOptions, readIdentifier, readNamesWithCodes } from '../read/readings.ts';
import { namesVenue } from '../read/ticker-readings.ts';
import type { NoCompany } from '../resolve/no-company.ts';
import { exchangeOfMic } from '../securities/exchanges.ts';
import { flawOfSecurityId } from './security-flaws.ts';

/** What is wrong with an identifier that resolves to nothing. */
export interface Flaw {
  /** One or two sentences for the caller. */
  readonly explanation: string;
  /** Other identifiers that the caller may have meant, the likeliest first. */
  readonly instead: readonly string[];
  /** The identifier holds a token or a password. No answer may repeat it. */
  readonly isSecret?: true;
}

/** The most characters of an identifier that an explanation repeats. */
const LONGEST_QUOTE = 80;
const SHOWN_VENUES = 2;
/** How many times an identifier is decoded again to find a token or a password in it. */
const DECODINGS = 3;

/** The service's tokens, other services' tokens that people paste, and a token after "token=" or in a header's value. */
const TOKEN =
  /pk_[a-z0-9]{16}|(?:^|[^a-z0-9])(?:pk_[a-z0-9_]|[sr]k_(?:live|test)_|eyj[\w-]{10})|^\s*bearer\s|authorization\s*:|(?:^\s*|[?&#])(?:token|secret|password|(?:api|access)[_-]?(?:key|token))=/i;
/** A long text of letters in both cases and digits, as no identifier is. */
const RANDOM_TEXT = /^(?=.*[a-z])(?=.*[A-Z])(?=(?:\D*\d){2})[\w-]{24,}$/;
const SCHEME = /^\s*(?:[a-z][a-z0-9+.-]*:)?\/\//i;
const MAILTO = /^\s*mailto:/i;
/** A password may have any character, even "/", "?" and "#", which end the authority of an address. */
const PASSWORD = /^[^:]*:[^@]*@/;
const EMAIL = /^(?:mailto:)?[^\s@/]+@([^\s@/]+)$/i;
const PATH = /^\s*(?:\.{0,2}[/\\]|~[/\\]|[a-z]:\\)|^(?:v1\/brands|api\/logos)\//i;
const FILE = /^(?:.*[/\\])?([^/\\]+)\.(png|svg|jpe?g|gif|webp|ico|pdf|json|csv|html?|php|txt|xml)$/i;
const SUFFIX = /^(\S+)\.(?=[\p{N}-]*\p{L})([\p{L}\p{N}-]+)$/u;
const COLON = /^\s*([\w.&-]{1,12})\s*:\s*([\w.&-]{1,12})\s*$/;
const HALF_COLON = /^\s*(?::\s*([\w.&-]{1,12})|([\w.&-]{1,12})\s*:)\s*$/;

/**
 * Explains to a caller why an identifier resolves to nothing: how the service read it, and what is wrong with it if that is
 * known. Never repeats a token or a password.
 *
 * @param options how it was read, whether it would have meant a superinvestor, if superinvestors counted, and what it means that
 *   is no company
 */
export function explainMiss(
  identifier: string,
  options: ReadOptions & {
    readonly namesSuperinvestor?: boolean;
    readonly noCompany?: NoCompany | undefined;
  },
): string {
  const flaw = flawOf(identifier);
  if (flaw?.isSecret) return flaw.explanation;
  const { noCompany, kind } = options;
  if (noCompany !== undefined)
    return `${shortened(identifier)} is a ${noCompany.kind}, ${shortened(noCompany.name)}. It is no company. If you mean a company, give its name, or its ticker with the exchange.`;
  const wrong = kind === undefined ? flaw : flawOfSecurityId(identifier);
  const who = options.superinvestors ? 'No company and no superinvestor' : 'No company';
  const tried =
    triedAs(readIdentifier(identifier, options)) ||
    (kind === undefined ? '' : `It cannot be read as \`kind=${kind}\`.`);
  return [`${who} is known by "${shortened(identifier)}".`, tried, wrong?.explanation ?? adviceFor(options)]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

function adviceFor({ superinvestors, namesSuperinvestor, kind }: Parameters<typeof explainMiss>[1]): string {
  if (kind !== undefined && !namesSuperinvestor) return 'Without `kind`, every kind is tried.';
  if (superinvestors) return 'Give a ticker, a domain, or the name of a company or superinvestor.';
  if (namesSuperinvestor)
    return 'A superinvestor has this name. Only /v1/brands/{identifier} answers superinvestors.';
  return 'Give a ticker, a domain or a company name.';
}

/** Returns what is wrong with the identifier itself. Undefined if nothing is known to be wrong with it. */
export function flawOf(identifier: string): Flaw | undefined {
  return FLAWS.values()
    .map((find) => find(identifier))
    .find((flaw) => flaw !== undefined);
}

const FLAWS: readonly ((identifier: string) => Flaw | undefined)[] = [
  token,
  credentialsInAddress,
  emailAddress,
  encodedTwice,
  flawOfSecurityId,
  path,
  ipAddress,
  fileName,
  nameWithCode,
  missingHost,
  unknownExchange,
  unknownSuffix,
  plusSigns,
  nothingToRead,
  commonWord,
];

function token(identifier: string): Flaw | undefined {
  const isToken = decodings(identifier).some((text) => TOKEN.test(text) || RANDOM_TEXT.test(text));
  if (!isToken) return undefined;
  const explanation =
    'The identifier holds what looks like a token. It is not repeated here. Give the token in the query parameter `token`, and a ticker, a domain or a name in the path.';
  return { explanation, instead: [], isSecret: true };
}

function credentialsInAddress(identifier: string): Flaw | undefined {
  const address = decodings(identifier).findLast(hasCredentials);
  if (address === undefined) return undefined;
  const host = authorityOf(address.slice(address.lastIndexOf('@') + 1));
  const explanation =
    'The identifier is an address with a user name or a password. They are not repeated here. Give the domain alone.';
  // The text after the last "@" may still be a part of the password.
  return { explanation, instead: readWebHost(host) === undefined ? [] : [host], isSecret: true };
}

function hasCredentials(text: string): boolean {
  return (
    (SCHEME.test(text) && authorityOf(text).includes('@')) ||
    PASSWORD.test(text.replace(SCHEME, '').replace(MAILTO, ''))
  );
}

function emailAddress(identifier: string): Flaw | undefined {
  const [, host] = EMAIL.exec(identifier.trim()) ?? [];
  if (host === undefined) return undefined;
  const web = readWebHost(host);
  const explanation =
    web === undefined
      ? `It is an e-mail address, and "${shortened(host)}" is no public domain.`
      : `It is an e-mail address. Give its domain: ${shortened(web.domain)}.`;
  return { explanation, instead: [host] };
}

function encodedTwice(identifier: string): Flaw | undefined {
  const meant = decoded(identifier);
  if (meant === identifier) return undefined;
  return { explanation: 'It is percent-encoded twice. Encode it once.', instead: [meant] };
}

function path(identifier: string): Flaw | undefined {
  if (SCHEME.test(identifier) || !PATH.test(identifier)) return undefined;
  const parts = identifier.replace(/\/info\/?$/, '').split(/[/\\]/);
  const last = parts.findLast((part) => part !== '') ?? '';
  const explanation = 'It is a path. Give the ticker, domain or name alone.';
  return { explanation, instead: [FILE.exec(last)?.[1] ?? last] };
}

function ipAddress(identifier: string): Flaw | undefined {
  const host = authorityOf(identifier);
  const address = isIP(host) === 0 ? host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1') : host;
  if (isIP(address) === 0) return undefined;
  return { explanation: 'It is an IP address, which no company is known by. Give a domain.', instead: [] };
}

function fileName(identifier: string): Flaw | undefined {
  const [, stem, extension] = FILE.exec(identifier) ?? [];
  if (stem === undefined || isKnownSuffix(identifier)) return undefined;
  const explanation = `".${extension}" is the extension of a file, not the end of a domain.`;
  return { explanation, instead: [stem] };
}

/** Finds a name and a ticker, in capitals, that no company has both of. */
function nameWithCode(identifier: string): Flaw | undefined {
  const both = readNamesWithCodes(identifier).find(({ code }) => code === code.toUpperCase());
  if (both === undefined) return undefined;
  const { name, code } = both;
  const explanation = `No company has both the name "${shortened(name)}" and the ticker "${shortened(code)}". Give one of the two.`;
  return { explanation, instead: [name, code] };
}

function missingHost(identifier: string): Flaw | undefined {
  if (!SCHEME.test(identifier) || /[\p{L}\p{N}]/u.test(authorityOf(identifier))) return undefined;
  return { explanation: 'It is an address without a domain.', instead: [] };
}

function unknownExchange(identifier: string): Flaw | undefined {
  if (SCHEME.test(identifier) || isKnownSuffix(identifier)) return undefined;
  const [, alone, before] = HALF_COLON.exec(identifier) ?? [];
  const half = alone ?? before;
  if (half !== undefined) {
    const explanation =
      'One side of the colon is empty. Write the exchange before it and the ticker after it: XETR:APC.';
    return { explanation, instead: [half] };
  }
  const [, left, right] = COLON.exec(identifier) ?? [];
  if (left === undefined || right === undefined) return undefined;
  const explanation = `Neither "${shortened(left)}" nor "${shortened(right)}" is a known exchange.`;
  return { explanation, instead: [right, left] };
}

/** Finds a dot that neither an exchange nor a public suffix follows. */
function unknownSuffix(identifier: string): Flaw | undefined {
  if (isKnownSuffix(identifier)) return undefined;
  const host = authorityOf(identifier).replace(/:\d*$/, '').replace(/\.$/, '');
  const [, before, suffix] = SUFFIX.exec(host) ?? [];
  if (before === undefined || suffix === undefined) {
    if (!SCHEME.test(identifier) || host === '') return undefined;
    const explanation = `"${shortened(host)}" is no domain: it has no public suffix such as ".com".`;
    return { explanation, instead: [host] };
  }
  const isTicker = suffix.length <= 4 && normalTicker(before) !== undefined && !SCHEME.test(identifier);
  const explanation = isTicker
    ? `"${suffix}" is neither the suffix of a known exchange, as in "APC.DE", nor a public suffix of domains.`
    : `".${shortened(suffix)}" is no public suffix of domains, such as ".com".`;
  return { explanation, instead: [before.replace(/^www\./i, '')] };
}

function plusSigns(identifier: string): Flaw | undefined {
  if (!/[\p{L}\p{N}]\+[\p{L}\p{N}]/u.test(identifier)) return undefined;
  const explanation = 'A "+" in a path is a plus sign. Encode a space as "%20".';
  return { explanation, instead: [identifier.replaceAll('+', ' ')] };
}

function nothingToRead(identifier: string): Flaw | undefined {
  if (/[\p{L}\p{N}]/u.test(identifier)) return undefined;
  return { explanation: 'It has no letter and no digit.', instead: [] };
}

/** Finds a common word that is not written as a ticker: "on". */
function commonWord(identifier: string): Flaw | undefined {
  const ticker = identifier.trim().toUpperCase();
  if (!/^[A-Z]{1,5}$/.test(ticker) || ticker === identifier.trim() || !isCommonAsTicker(ticker))
    return undefined;
  return { explanation: `It is a common word. Write a ticker in capitals: ${ticker}.`, instead: [ticker] };
}

/** Returns the identifier after up to three percent-decodings, each as written and without invisible characters. */
function decodings(identifier: string): string[] {
  const texts = [identifier];
  for (let left = DECODINGS; left > 0; left -= 1) texts.push(decoded(texts.at(-1) ?? ''));
  return [...new Set(texts.flatMap((text) => [text, text.normalize('NFKC').replace(INVISIBLE, '')]))];
}

/** Returns the percent-decoded identifier. Escapes that cannot be decoded stay unchanged. */
function decoded(identifier: string): string {
  return identifier.replace(/%[0-7][\da-f]|(?:%[89a-f][\da-f])+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}

function authorityOf(identifier: string): string {
  return /^[^/?#\\]*/.exec(identifier.trim().replace(SCHEME, ''))?.[0] ?? '';
}

/** Checks whether a part of the identifier is read as an exchange or as a public suffix. */
function isKnownSuffix(identifier: string): boolean {
  return namesVenue(identifier) || readWebHost(identifier) !== undefined;
}

/** "It was tried as the ticker AAPL, as the domain apple.com and as a name." '' if there was nothing to try. */
function triedAs(readings: readonly Reading[]): string {
  const valuesOf = (wanted: IdentifierKind) =>
    readings.flatMap(({ kind, key }) => (kind === wanted ? [key.slice(kind.length + 1)] : []));
  const parts = [
    ...SECURITY_KINDS.flatMap((kind) => valuesOf(kind).map((value) => `the ${kind.toUpperCase()} ${value}`)),
    ...tickersTried(valuesOf('ticker')),
    ...valuesOf('domain').map((domain) => `the domain ${shortened(domain)}`),
    ...(valuesOf('name').length > 0
      ? ['a name']
      : valuesOf('superinvestor').length > 0
        ? ['the name of a superinvestor']
        : []),
  ];
  const last = parts.pop();
  if (last === undefined) return '';
  return `It was tried as ${parts.length === 0 ? last : `${parts.join(', as ')} and as ${last}`}.`;
}

/** Returns the tickers with their exchanges, and whether one was tried without an exchange. */
function tickersTried(tickers: readonly string[]): string[] {
  // American tickers have keys that end in no MIC. "ISIN: …" is also read as a ticker at an exchange of that name.
  const listed = tickers.filter((ticker) => /@(?!ISIN$|FIGI$)[A-Z0-9]{4}$/.test(ticker));
  const atVenues = Map.groupBy(
    listed.map((ticker) => ticker.split('@')),
    ([ticker = '']) => ticker,
  );
  return [
    ...[...atVenues].map(([ticker, venues]) => {
      const names = venues.map(([, mic = '']) => exchangeOfMic(mic)?.name ?? mic);
      const shown = names.slice(0, SHOWN_VENUES).join(', ');
      return `the ticker ${ticker} (${names.length > SHOWN_VENUES ? `${shown} and others` : shown})`;
    }),
    ...(tickers.some((ticker) => !ticker.includes('@')) ? ['a ticker'] : []),
  ];
}

function shortened(text: string): string {
  const characters = [...text];
  return characters.length <= LONGEST_QUOTE ? text : `${characters.slice(0, LONGEST_QUOTE).join('')}…`;
}
