import type { GrantUsage, UsageCell } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { grantIdOf, type Ledger, ledgerIdOf, newLedger, parseGrantId } from './ledger.ts';
import { firstEndOf, type LedgerStore, type OpenCursor, openOf, overdueOf } from './ledger-store.ts';
import { fitsGrant } from './usage-check.ts';
import { mergeByGrant, sumCells } from './usage-merge.ts';

/** What a store promises of closed grants. A simulation switches one off to show that it is needed. */
export interface StoreRules {
  /** Usage that the stream brings for a grant that is not open is dropped. */
  closedEventsDropped: boolean;
  /** Usage of a grant that is not open is answered as refused. */
  closedReportsRefused: boolean;
  /** A grant is closed only if it is open. */
  closedOnlyOnce: boolean;
}

const ALL_RULES: StoreRules = { closedEventsDropped: true, closedReportsRefused: true, closedOnlyOnce: true };

/** Ledgers in memory: for simulations, under the same contract as those on MongoDB. */
export function createMemoryLedgerStore(rules: StoreRules = ALL_RULES): LedgerStore {
  const ledgers = new Map<string, Ledger>();
  const grantCells = new Map<string, GrantUsage>();
  const closedCells = new Map<string, UsageCell[]>();

  const apply = (usage: GrantUsage): 'applied' | 'refused' | 'impossible' => {
    const parsed = parseGrantId(usage.grantId);
    if (!parsed) throw new Fault('invalid_argument', 'not a grant id of this service');
    const ledgerId = ledgerIdOf(parsed.key);
    const ledger = ledgers.get(ledgerId);
    const grant = ledger?.grants.find(({ number }) => number === parsed.number);
    if (!ledger) return 'refused';
    if (!grant) {
      const late = usage.closed ? !rules.closedOnlyOnce : !rules.closedEventsDropped;
      if (late) {
        ledgers.set(ledgerId, { ...ledger, closedUsed: ledger.closedUsed + usage.used });
        closedCells.set(ledgerId, sumCells([...(closedCells.get(ledgerId) ?? []), ...usage.cells]));
      }
      return 'refused';
    }
    if (!fitsGrant(grant, usage)) return 'impossible';
    const stored = grantCells.get(usage.grantId);
    const known = stored && stored.used >= usage.used ? stored : usage;
    if (usage.closed) {
      ledgers.set(ledgerId, {
        ...ledger,
        closedUsed: ledger.closedUsed + known.used,
        grants: ledger.grants.filter((other) => other !== grant),
      });
      closedCells.set(ledgerId, sumCells([...(closedCells.get(ledgerId) ?? []), ...known.cells]));
      grantCells.delete(usage.grantId);
    } else {
      const returned = Math.max(grant.returned, usage.returned);
      const grants = ledger.grants.map((other) =>
        other === grant ? { ...grant, used: known.used, returned } : other,
      );
      ledgers.set(ledgerId, { ...ledger, grants });
      grantCells.set(usage.grantId, known);
    }
    return 'applied';
  };

  return {
    update: async (key, decide) => {
      const before = ledgers.get(ledgerIdOf(key)) ?? newLedger(key);
      const { ledger, result } = decide(before);
      if (ledger !== before) ledgers.set(ledgerIdOf(key), ledger);
      return result;
    },
    applyUsage: async (usage) => {
      const merged = mergeByGrant(usage);
      if (!merged.every(({ grantId }) => parseGrantId(grantId)))
        throw new Fault('invalid_argument', 'not a grant id of this service');
      const { refused = [], impossible = [] } = Object.groupBy(merged, apply);
      return {
        refused: rules.closedReportsRefused ? refused.map(({ grantId }) => grantId) : [],
        impossible: impossible.map(({ grantId }) => grantId),
      };
    },
    listOverdue: async (nowMs, limit) => overdueOf([...ledgers.values()], nowMs, limit),
    listOpen: async (after, limit) => {
      const open = [...ledgers.values()]
        .flatMap((ledger) => {
          const endMs = firstEndOf(ledger.grants);
          return endMs === undefined ? [] : [{ ...ledger, endMs, ledgerId: ledgerIdOf(ledger) }];
        })
        .sort((a, b) => a.endMs - b.endMs || (a.ledgerId < b.ledgerId ? -1 : 1));
      const isBehind = ({ endMs, ledgerId }: OpenCursor) =>
        !after || endMs > after.endMs || (endMs === after.endMs && ledgerId > after.ledgerId);
      return openOf(open.filter(isBehind), limit);
    },
    readUsage: async (accountId, month) =>
      [...ledgers.values()]
        .filter((ledger) => ledger.accountId === accountId && ledger.month === month)
        .sort((a, b) => (a.pool < b.pool ? -1 : 1))
        .map((ledger) => {
          const open = ledger.grants.flatMap(
            ({ number }) => grantCells.get(grantIdOf(ledger, number))?.cells ?? [],
          );
          return { ledger, cells: sumCells([...(closedCells.get(ledgerIdOf(ledger)) ?? []), ...open]) };
        }),
  };
}
