import type { MeteringAdminServiceServer } from '@brand-data/contracts';
import {
  clientStream,
  operatorCallOf,
  refuseRestore,
  type Service,
  type Trail,
  unary,
} from '@brand-data/runtime';
import type { Allowances } from '../granting/allowances.ts';
import { repairLimits } from '../granting/repair-limits.ts';
import { withLedgerDeadline } from '../ledger/ledger-collections.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import type { UsageLists } from '../ledger/usage-lists.ts';
import { listNotices, type NoticeAdmin, redeliverNotices, testWebhook } from '../notices/notice-admin.ts';
import type { CatchUp } from '../usage/catch-up.ts';
import { listLastCalls, listUsage, readMonthUsage } from './usage-answers.ts';

/** Returns the gRPC service for operators. See proto/brand_data/v1/metering.proto for messages and errors. */
export function meteringAdminService(
  service: Service,
  parts: {
    store: LedgerStore;
    lists: UsageLists;
    catchUp: CatchUp;
    allowances: Allowances;
    trail: Trail;
    notices: NoticeAdmin;
  },
): MeteringAdminServiceServer {
  const { store, lists, catchUp, allowances, trail, notices } = parts;
  return {
    getUsage: unary(service, async (request) => ({
      usage: await withLedgerDeadline(readMonthUsage({ store, catchUp: catchUp.now }, request)),
    })),

    listUsage: unary(service, (request) =>
      withLedgerDeadline(listUsage({ lists, store, catchUp: catchUp.now }, request)),
    ),

    listLastCalls: unary(service, (request) => listLastCalls({ lists }, request)),

    repairLimits: unary(service, async ({ allowance }, metadata) => {
      const account = (await allowances.verify(allowance))?.accountId;
      const repaired = await trail.record(
        operatorCallOf(metadata),
        { method: 'RepairLimits', about: account ? [account] : [], details: { account: account ?? '' } },
        () => withLedgerDeadline(repairLimits({ store, allowances }, allowance, Date.now())),
        ({ limits }) => ({ ledgers: limits.length }),
      );
      service.log.warn(repaired, 'an operator has repaired limits');
      return repaired;
    }),

    listNotices: unary(service, (request) => listNotices(notices, request)),

    redeliverNotices: unary(service, (request, metadata) =>
      trail.record(
        operatorCallOf(metadata),
        {
          method: 'RedeliverNotices',
          about: request.ids.slice(0, 100),
          details: { notices: request.ids.length === 0 ? 'all failed' : String(request.ids.length) },
        },
        () => redeliverNotices(notices, request),
        ({ ids }) => ({ notices: ids.length }),
      ),
    ),

    testWebhook: unary(service, (_request, metadata) =>
      trail.record(operatorCallOf(metadata), { method: 'TestWebhook', about: [], details: {} }, () =>
        testWebhook(notices),
      ),
    ),

    replayUsage: clientStream(service, refuseRestore),
  };
}
