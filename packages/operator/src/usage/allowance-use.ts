import type { Plan } from '@brand-data/contracts';

/** How much of the allowance of one pool an account has used in a month. */
export interface AllowanceUse {
  pool: string;
  /** Calls that the plan allows in the month. 0: the plan does not have the pool any more. */
  allowance: number;
  /** Calls billed so far. */
  used: number;
  /** Calls that callers may still make. Permits that gateways hold are a part of it. */
  remaining: number;
  /** Permits that gateways hold and that metering does not know to be used. */
  held_by_gateways: number;
  /**
   * The allowance that metering used last. After a change it is outdated until the first call, which brings metering the new one.
   * Null if there were no calls.
   */
  allowance_in_metering: number | null;
}

/** One ledger of the account, as metering answers it. */
export interface LedgerUse {
  pool: string;
  /** The allowance that metering used last. */
  allowance: number;
  used: number;
  heldByGateways: number;
}

/**
 * Returns the use of the pools of an account's plan and of all pools with ledgers, by name.
 *
 * @param plan the account's plan, if the month is the current one. Otherwise the allowances are those that metering used last
 */
export function allowanceUse(
  plan: Pick<Plan, 'pools'> | undefined,
  ledgers: readonly LedgerUse[],
): AllowanceUse[] {
  const planned = new Map(plan?.pools.map(({ name, allowance }) => [name, allowance]));
  const stored = new Map(ledgers.map((ledger) => [ledger.pool, ledger]));
  return [...new Set([...planned.keys(), ...stored.keys()])].sort().map((pool) => {
    const ledger = stored.get(pool);
    const { used = 0, heldByGateways = 0 } = ledger ?? {};
    const allowance = (plan ? planned.get(pool) : ledger?.allowance) ?? 0;
    return {
      pool,
      allowance,
      used,
      remaining: Math.max(0, allowance - used),
      held_by_gateways: heldByGateways,
      allowance_in_metering: ledger?.allowance ?? null,
    };
  });
}
