import type { GetUsageRequest, GetUsageResponse, MeteringAdminServiceServer } from '@brand-data/contracts';
import { Fault, type Service, unary } from '@brand-data/runtime';
import { outOf, remainingOf, usedOf } from './ledger.ts';
import type { LedgerStore } from './ledger-store.ts';
import { isMonth, monthOf } from './month.ts';

/** What operators call: see proto/brand_data/v1/metering.proto for shapes and errors. */
export function meteringAdminService(service: Service, store: LedgerStore): MeteringAdminServiceServer {
  return {
    getUsage: unary<GetUsageRequest, GetUsageResponse>(service, async (request) => {
      const nowMs = Date.now();
      const month = request.month || monthOf(nowMs);
      if (!isMonth(month)) throw new Fault('invalid_argument', 'month is YYYY-MM, for example 2026-11');
      if (request.accountId === '') throw new Fault('invalid_argument', 'account_id is missing');
      const usage = await store.readUsage(request.accountId, month);
      const pools = usage.map(({ ledger, cells }) => ({
        pool: ledger.pool,
        limit: ledger.limit,
        used: usedOf(ledger),
        remaining: remainingOf(ledger),
        out: outOf(ledger, nowMs),
        cells,
      }));
      const final = month < monthOf(nowMs) && usage.every(({ ledger }) => ledger.grants.length === 0);
      return { month, pools, final };
    }),
  };
}
