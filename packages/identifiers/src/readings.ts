import { readDomain } from './domains.ts';
import type { Kind, Strength } from './keys.ts';
import { nameForms } from './names.ts';
import { readSecurityIds } from './security-ids.ts';
import { readTicker } from './tickers.ts';

/** One thing that an identifier may mean. */
export interface Reading {
  /** To be looked for among brands' keys. */
  readonly key: string;
  readonly kind: Kind;
  /** A match is no stronger than this. */
  readonly strength: Strength;
  /** Any match of a lower step goes before; within a step strength, rank and id decide. */
  readonly step: number;
}

/**
 * What an identifier may mean, in order: security identifiers, whose check digits leave little doubt; then as
 * "Precedence" of packages/identifiers/README.md has it: ticker, domain, name, superinvestor, but a lower-case domain before tickers
 * ("sap.de"). A ticker with its exchange goes before the same text read as a share class ("BT.L"), and an exact host
 * before its registrable domain. At most a few dozen; none: it means nothing.
 */
export function readIdentifier(identifier: string, options: { superinvestors: boolean }): Reading[] {
  const { atExchange, bare } = readTicker(identifier);
  const securitySteps = readSecurityIds(identifier).map(({ kind, key }) => [exact(kind, key)]);
  const tickerSteps = [atExchange, bare].map((keys) => keys.map((key) => exact('ticker', key)));
  const domainSteps = readDomain(identifier).map((key) => [exact('domain', key)]);
  const names = nameForms(identifier);
  const nameStep = (kind: 'name' | 'superinvestor'): Unplaced[] =>
    names.map(({ form, strength }) => ({ key: `${kind}:${form}`, kind, strength }));

  const steps = [
    ...securitySteps,
    ...(isPlainlyDotted(identifier) ? [...domainSteps, ...tickerSteps] : [...tickerSteps, ...domainSteps]),
    nameStep('name'),
    ...(options.superinvestors ? [nameStep('superinvestor')] : []),
  ];
  return steps.flatMap((readings, step) => readings.map((reading) => ({ ...reading, step })));
}

type Unplaced = Omit<Reading, 'step'>;

function exact(kind: Kind, key: string): Unplaced {
  return { key, kind, strength: 'exact' };
}

/** Tickers are written in upper case, domains in lower case. That a public suffix ends it, reading the domain says. */
function isPlainlyDotted(identifier: string): boolean {
  return identifier.includes('.') && !/\p{Lu}/u.test(identifier);
}
