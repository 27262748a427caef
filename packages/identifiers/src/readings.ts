import { readDomain } from './domains.ts';
import type { Kind, Strength } from './keys.ts';
import { coreName, normalName } from './names.ts';
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
 * What an identifier may mean, in the order of api-decisions.md, Records: ticker, domain, name, superinvestor; but a
 * lower-case domain goes before tickers ("sap.de"). A ticker with its exchange goes before the same text read as a
 * share class ("BT.L"), and an exact host before its registrable domain. At most a few dozen; none: it means nothing.
 */
export function readIdentifier(identifier: string, options: { superinvestors: boolean }): Reading[] {
  const { atExchange, bare } = readTicker(identifier);
  const domains = readDomain(identifier);
  const normal = normalName(identifier);
  const core = coreName(normal);

  const tickerSteps = [atExchange, bare].map((keys) => keys.map((key) => exact('ticker', key)));
  const domainSteps = domains.map((key) => [exact('domain', key)]);
  const nameStep = (kind: 'name' | 'superinvestor'): Unplaced[] => [
    ...(normal === '' ? [] : [exact(kind, `${kind}:${normal}`)]),
    ...(core === normal
      ? []
      : [{ ...exact(kind, `${kind}:${core}`), strength: 'legal_form' } satisfies Unplaced]),
  ];

  const steps = [
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
