import type {
  AcquireRequest,
  AcquireResponse,
  MeteringServiceServer,
  ReadUsageRequest,
  ReadUsageResponse,
  ReportRequest,
  ReportResponse,
} from '@brand-data/contracts';
import { type Service, unary } from '@brand-data/runtime';
import { inTime } from './in-time.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { Metering } from './metering.ts';
import { readMonthUsage } from './month-usage.ts';
import type { UsageConsumer } from './usage-consumer.ts';

/** What gateways call: see proto/brand_data/v1/metering.proto for shapes and errors. */
export function meteringService(
  service: Service,
  { metering, ...parts }: { metering: Metering; store: LedgerStore; consumer: UsageConsumer },
): MeteringServiceServer {
  return {
    acquire: unary<AcquireRequest, AcquireResponse>(service, (request) => inTime(metering.acquire(request))),

    report: unary<ReportRequest, ReportResponse>(service, async ({ usage }) => {
      const { refused } = await inTime(metering.applyUsage(usage));
      return { refusedGrantIds: refused };
    }),

    readUsage: unary<ReadUsageRequest, ReadUsageResponse>(service, async (request) => ({
      usage: await inTime(readMonthUsage(parts, request)),
    })),
  };
}
