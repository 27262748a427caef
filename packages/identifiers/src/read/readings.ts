import type { IdentifierKind, Strength } from '../keys/brand-key.ts';
import { domainNames } from '../keys/domains.ts';
import { readSecurityIds } from '../keys/security-ids.ts';
import { expansionsOf } from '../names/abbreviations.ts';
import { coreName, coreOf, type NameForm, nameForms, normalName } from '../names/names.ts';
import { isTooLongForName } from '../names/names-of-brand.ts';
import { turnedName } from '../names/published-names.ts';
import { joinedForm } from '../names/weak-names.ts';
import { readSecurityName } from '../securities/security-names.ts';
import { isShareOrReceipt } from '../securities/security-types.ts';
import { readTicker } from './ticker-readings.ts';

/** One of the ways to read an identifier. */
export interface Reading {
  readonly key: string;
  readonly kind: IdentifierKind;
  /** The greatest strength that a match by this reading can have. */
  readonly strength: Strength;
  /** A match by a reading of a lower step goes first, except that weak matches follow all other matches. */
  readonly step: number;
}

/** Which readings of an identifier count. */
export interface ReadOptions {
  readonly superinvestors: boolean;
  /** The only kind that counts. Undefined: every kind. */
  readonly kind?: IdentifierKind | undefined;
}

/**
 * Returns the readings of an identifier in order of precedence, at most a few dozen: security identifier (its check digits leave
 * little doubt), lower-case domain ("sap.de"), ticker, other domain, name, superinvestor, and last the text without spaces and
 * punctuation. A ticker with its exchange precedes the same text read as a share class ("BT.L"), an exact host its registrable
 * domain. After "$", only tickers count.
 */
export function readIdentifier(identifier: string, options: ReadOptions): Reading[] {
  if (isIndexCode(identifier)) return [];
  const isTicker = isCashtag(identifier);
  const { steps: tickers, joined: joinedTickers } = readTicker(identifier);
  const securitySteps = readSecurityIds(identifier).map(({ kind, key }) => [exact(kind, key)]);
  const tickerSteps = tickers.map((keys) => keys.map((key) => exact('ticker', key)));
  const domainSteps = domainNames(identifier).map((name) => [exact('domain', `domain:${name}`)]);
  const mayBeName = !isTooLongForName(identifier);
  const names = mayBeName ? namesIn(identifier) : [];
  const nameStep = (kind: 'name' | 'superinvestor') =>
    names.map(({ form, strength }) => ({ key: `${kind}:${form}`, kind, strength }));
  // A domain and a security identifier have no spaces, so they cannot have lost any.
  const isName = mayBeName && securitySteps.length === 0 && domainSteps.length === 0;
  const joinedName = isName ? joinedForm(identifier) : '';
  // Domains are written in lower case, tickers in upper case.
  const isLowerCaseDotted = identifier.includes('.') && !/\p{Lu}/u.test(identifier);

  const steps = [
    ...securitySteps,
    ...(isLowerCaseDotted ? [...domainSteps, ...tickerSteps] : [...tickerSteps, ...domainSteps]),
    nameStep('name'),
    ...(options.superinvestors ? [nameStep('superinvestor')] : []),
    [
      ...joinedTickers.map((key) => joined('ticker', key)),
      ...(joinedName === '' || names.some(({ form }) => form === joinedName)
        ? []
        : [joined('name', `name:${joinedName}`)]),
      ...(isName ? respelled(identifier, names) : []),
    ],
  ];
  return steps.flatMap((readings, step) =>
    readings
      .filter(({ kind }) => (options.kind ?? kind) === kind && (!isTicker || kind === 'ticker'))
      .map((reading) => ({ ...reading, step })),
  );
}

/** Checks whether a text is the code of an index: "^DJI" or ".DJI" is the Dow Jones index, and not the company DJI. .NET and .ENV are software. */
export function isIndexCode(text: string): boolean {
  return /^\s*(?:\^|\.(?!(?:NET|ENV)\s*$)[A-Z0-9]+\s*$)/.test(text);
}

/** Checks whether a text is written as social media write tickers: "$AAPL". */
export function isCashtag(text: string): boolean {
  return /^\s*\$\s*\S+\s*$/.test(text);
}

/** Returns the forms of the text as a name, and as the name of a share, such as "Alibaba American Depositary Shares". */
function namesIn(identifier: string): NameForm[] {
  const forms = nameForms(identifier);
  const { company, type } = readSecurityName(identifier);
  if (type === undefined || !isShareOrReceipt(type)) return forms;
  const known = new Set(forms.map(({ form }) => form));
  const others = nameForms(company).filter(({ form }) => !known.has(form));
  return [...forms, ...others.map(({ form }) => ({ form, strength: 'legal_form' as const }))];
}

function exact(kind: IdentifierKind, key: string) {
  return { key, kind, strength: 'exact' } as const;
}

function joined(kind: IdentifierKind, key: string) {
  return { key, kind, strength: 'spacing' } as const;
}

/** The "e" of "ä", "ö" and "ü" as they are spelled out. Some lists have kept only "a", "o" and "u". */
const SPELT_UMLAUT = /(?<=[aou])e/g;

/**
 * Reads a name that lists write in their own ways: "SCHWAB CHARLES CORP" as "Charles Schwab", "LOUISIANA PAC CORP" as "Louisiana
 * Pacific", and "Deutsche Boerse" as "Deutsche Borse". A single word may be a ticker that looks alike: "AEON".
 */
function respelled(identifier: string, names: readonly NameForm[]) {
  const core = coreName(identifier);
  const known = new Set(names.map(({ form }) => form));
  const turned = turnedName(identifier.trim());
  const forms = [
    ...(turned === undefined ? [] : nameForms(turned).map(({ form }) => form)),
    ...expansionsOf(core).map(coreOf),
    ...(core.includes(' ') ? [normalName(core.replace(SPELT_UMLAUT, ''))] : []),
  ];
  return [...new Set(forms)]
    .filter((form) => form !== '' && !known.has(form))
    .map((form) => joined('name', `name:${form}`));
}

const IN_PARENTHESES = /^(.+?) ?[(（[]([^()（）[\]]+)[)）\]]$/u;
/** A hyphen without spaces is a part of a name ("Coca-Cola") or of a ticker ("BRK-B"). */
const BETWEEN_SPACES = / (?:[\p{Pd}\u2212|·] )+/u;
const SPACES = /\s+/gu;

/**
 * Reads a text as a name together with a ticker or a security identifier: "Apple Inc. (NASDAQ: AAPL)", "AAPL - Apple". Of two parts
 * with a dash, either one may be the name, so there are at most two readings. A reading means a company only if both parts do. A text
 * of one kind is not read so.
 */
export function readNamesWithCodes(identifier: string, kind?: IdentifierKind) {
  if (kind !== undefined) return [];
  const read = (text: string) => readIdentifier(text, { superinvestors: false });
  return partsOf(identifier).flatMap(([name, code]) => {
    const nameReadings = read(name).filter(({ kind }) => kind === 'name');
    const codeReadings = read(code).filter(({ kind }) => kind !== 'name' && kind !== 'domain');
    const isBoth = nameReadings.length > 0 && codeReadings.length > 0;
    return isBoth ? [{ name, nameReadings, code, codeReadings }] : [];
  });
}

function partsOf(identifier: string): (readonly [name: string, code: string])[] {
  const text = identifier.replace(SPACES, ' ').trim();
  const [, before, inside] = IN_PARENTHESES.exec(text) ?? [];
  if (before !== undefined && inside !== undefined) return [[before, inside]];
  const [left, right, ...rest] = text.split(BETWEEN_SPACES).map((part) => part.trim());
  if (!left || !right || rest.length > 0) return [];
  return [
    [right, left],
    [left, right],
  ];
}
