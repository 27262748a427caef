import { ALL_RULES as GRANT_RULES, type GrantRules } from '../../services/gateway/src/quota/grant-rules.ts';
import {
  ALL_RULES as LEDGER_RULES,
  type LedgerRules,
} from '../../services/metering/src/ledger/ledger-rules.ts';
import { ALL_RULES as USAGE_RULES, type UsageRules } from '../../services/metering/src/usage/usage-rules.ts';
import { ALL_DATABASE_RULES } from './ledger-documents.ts';
import type { MongoRules } from './mongo.ts';

/** Which rules of the protocol are on. */
export interface Rules {
  grant: GrantRules;
  ledger: LedgerRules;
  mongo: MongoRules;
  usage: UsageRules;
}

const MONGO_RULES: MongoRules = { ...ALL_DATABASE_RULES, noLockOutlivesItsHolder: true };

export const ALL_RULES: Rules = {
  grant: GRANT_RULES,
  ledger: LEDGER_RULES,
  mongo: MONGO_RULES,
  usage: USAGE_RULES,
};

const grant = (rules: Partial<GrantRules>): Rules => ({ ...ALL_RULES, grant: { ...GRANT_RULES, ...rules } });
const ledger = (rules: Partial<LedgerRules>): Rules => ({
  ...ALL_RULES,
  ledger: { ...LEDGER_RULES, ...rules },
});
const mongo = (rules: Partial<MongoRules>): Rules => ({ ...ALL_RULES, mongo: { ...MONGO_RULES, ...rules } });

const usage = (rules: Partial<UsageRules>): Rules => ({ ...ALL_RULES, usage: { ...USAGE_RULES, ...rules } });

/** For each rule, the set of all rules in which only this rule is switched off. */
export const WITHOUT = {
  'marker-barrier': ledger({ markerBarrier: false }),
  'acknowledgement-deadline': grant({ acknowledgementDeadline: false }),
  'grace-and-drift': ledger({ graceAndDrift: false }),
  'time-from-first-send': grant({ timeFromFirstSend: false }),
  'stale-seq-refused': ledger({ staleSeqRefused: false }),
  'closed-report-refused': ledger({ closedReportsRefused: false }),
  'closed-only-when-quiet': grant({ closedOnlyWhenQuiet: false }),
  'closed-events-dropped': ledger({ closedEventsDropped: false }),
  'closing-only-if-open': ledger({ closedOnlyOnce: false }),
  'signed-limits': ledger({ signedLimits: false }),
  'own-grants-only': ledger({ ownGrantsOnly: false }),
  'refused-only-if-proven': ledger({ refusedOnlyIfProven: false }),
  'compare-and-set': mongo({ compareAndSet: false }),
  'merged-once': mongo({ mergedOnce: false }),
  'no-lock-outlives-its-holder': mongo({ noLockOutlivesItsHolder: false }),
  'revision-order': ledger({ revisionOrder: false }),
  'months-cut': grant({ monthsCut: false }),
  'acknowledged-once-stored': usage({ acknowledgedOnceStored: false }),
  'unstored-comes-again': usage({ unstoredRedelivered: false }),
  'only-applied-purged': usage({ onlyAppliedPurged: false }),
} as const satisfies Record<string, Rules>;

export type RuleName = keyof typeof WITHOUT;
export const RULE_NAMES = Object.keys(WITHOUT).filter((name): name is RuleName => name in WITHOUT);

export function isRuleName(name: string): name is RuleName {
  return Object.hasOwn(WITHOUT, name);
}
