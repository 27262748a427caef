import { Fault } from '@brand-data/runtime';
import { type LedgerKey, ledgerIdOf, parseGrantId } from './ledger.ts';
import type { NumberedUsage, UsageDecision } from './ledger-usage.ts';
import type { LedgerInput, SentUsage } from './senders.ts';
import { usageDefect } from './usage-check.ts';

/** The usage of one ledger's grants. */
export interface UsageOfLedger {
  key: LedgerKey;
  usage: readonly NumberedUsage[];
}

/** What came of one ledger's usage. */
export interface UsageOutcome {
  of: UsageOfLedger;
  /** The decision that is stored. undefined: the usage may be applied or not. */
  decision: UsageDecision | undefined;
  /** Why the usage could not be applied. */
  error: unknown;
}

/** Ids of the grants whose usage was not applied completely. */
export interface NotApplied {
  /** These grants were given out and are closed. This usage of them is never billed. */
  refused: string[];
  /** The usage is not from the grant's holder, or the id is guessed. It changes nothing. */
  foreign: string[];
  /** The usage reports more used and returned permits than the grant has. Their holder is at fault. */
  impossible: string[];
  /** The ledger that was read has not given out these grants. A later state of it may have. */
  unknown: string[];
  /** Their ledger could not be read or written in time. The usage may be applied or not. */
  unavailable: string[];
}

/** Groups usage by ledger. Throws Fault `invalid_argument` if a grant's id is not one that metering makes. */
export function byLedger(usage: readonly LedgerInput[]): UsageOfLedger[] {
  const usages = new Map<string, { key: LedgerKey; usage: NumberedUsage[] }>();
  for (const given of usage) {
    const parsed = parseGrantId(given.grantId);
    if (!parsed) throw new Fault('invalid_argument', 'not a grant id of this service');
    const { key, number, secret } = parsed;
    const id = ledgerIdOf(key);
    const known = usages.get(id) ?? { key, usage: [] };
    known.usage.push({ number, secret, usage: given });
    usages.set(id, known);
  }
  return [...usages.values()];
}

export function notApplied(outcomes: readonly UsageOutcome[]): NotApplied {
  const ids: NotApplied = { refused: [], foreign: [], impossible: [], unknown: [], unavailable: [] };
  for (const { of, decision } of outcomes) {
    for (const [index, { usage }] of of.usage.entries()) {
      const verdict = decision?.verdicts[index] ?? 'unavailable';
      if (verdict !== 'applied') ids[verdict].push(usage.grantId);
    }
  }
  return ids;
}

export interface UsageAnswer extends NotApplied {
  /** Their usage contradicts itself. */
  unreadable: string[];
}

/** Applies usage. Usage that contradicts itself is never applied, and does not prevent the rest from being applied. */
export async function applyReadable(
  store: { applyUsage(usage: readonly LedgerInput[]): Promise<NotApplied> },
  usage: readonly SentUsage[],
): Promise<UsageAnswer> {
  const { readable = [], defective = [] } = Object.groupBy(usage, (grant) =>
    usageDefect(grant) === undefined ? 'readable' : 'defective',
  );
  const notApplied = await store.applyUsage(readable);
  return { ...notApplied, unreadable: defective.map(({ grantId }) => grantId) };
}
