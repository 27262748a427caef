import type { GetUsageRequest, GetUsageResponse, MeteringAdminServiceServer } from '@brand-data/contracts';
import { type Service, unary } from '@brand-data/runtime';
import { withDeadline } from './deadline.ts';
import type { LedgerStore } from './ledger/ledger-store.ts';
import { readMonthUsage } from './month-usage.ts';
import type { CatchUp } from './usage/catch-up.ts';

/** The gRPC service for operators. See proto/brand_data/v1/metering.proto for messages and errors. */
export function meteringAdminService(
  service: Service,
  parts: { store: LedgerStore; catchUp: CatchUp },
): MeteringAdminServiceServer {
  return {
    getUsage: unary<GetUsageRequest, GetUsageResponse>(service, async (request) => ({
      usage: await withDeadline(readMonthUsage(parts, request)),
    })),
  };
}
