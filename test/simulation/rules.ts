import { ALL_RULES as LEASE_RULES, type LeaseRules } from '../../services/gateway/src/lease-rules.ts';
import { ALL_RULES as LEDGER_RULES, type LedgerRules } from '../../services/metering/src/ledger-rules.ts';
import type { StoreRules } from '../../services/metering/src/memory-ledger-store.ts';

/** Which rules of the protocol are kept. */
export interface Rules {
  lease: LeaseRules;
  ledger: LedgerRules;
  store: StoreRules;
}

const STORE_RULES: StoreRules = {
  closedEventsDropped: true,
  closedReportsRefused: true,
  closedOnlyOnce: true,
};

export const ALL_RULES: Rules = { lease: LEASE_RULES, ledger: LEDGER_RULES, store: STORE_RULES };

const lease = (rules: Partial<LeaseRules>): Rules => ({ ...ALL_RULES, lease: { ...LEASE_RULES, ...rules } });
const ledger = (rules: Partial<LedgerRules>): Rules => ({
  ...ALL_RULES,
  ledger: { ...LEDGER_RULES, ...rules },
});
const store = (rules: Partial<StoreRules>): Rules => ({ ...ALL_RULES, store: { ...STORE_RULES, ...rules } });

/** Each rule by name, with all the others on. */
export const WITHOUT = {
  'marker-barrier': ledger({ markerBarrier: false }),
  'acknowledgement-deadline': lease({ acknowledgementDeadline: false }),
  'grace-and-drift': ledger({ graceAndDrift: false }),
  'time-from-first-send': lease({ timeFromFirstSend: false }),
  'stale-seq-refused': ledger({ staleSeqRefused: false }),
  'closed-report-refused': store({ closedReportsRefused: false }),
  'closed-only-when-quiet': lease({ closedOnlyWhenQuiet: false }),
  'closed-events-dropped': store({ closedEventsDropped: false }),
  'closing-only-if-open': store({ closedOnlyOnce: false }),
  'revision-order': ledger({ revisionOrder: false }),
  'months-cut': lease({ monthsCut: false }),
} as const satisfies Record<string, Rules>;

export type RuleName = keyof typeof WITHOUT;
export const RULE_NAMES = Object.keys(WITHOUT).filter((name): name is RuleName => name in WITHOUT);

export function isRuleName(name: string): name is RuleName {
  return Object.hasOwn(WITHOUT, name);
}
