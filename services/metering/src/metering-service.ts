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
import { Counter } from 'prom-client';
import { withDeadline } from './deadline.ts';
import type { Metering } from './granting/metering.ts';
import type { LedgerStore } from './ledger/ledger-store.ts';
import { readMonthUsage } from './month-usage.ts';
import type { CatchUp } from './usage/catch-up.ts';

/** The gRPC service for gateways. See proto/brand_data/v1/metering.proto for messages and errors. */
export function meteringService(
  service: Service,
  { metering, ...parts }: { metering: Metering; store: LedgerStore; catchUp: CatchUp },
): MeteringServiceServer {
  const reports = new Counter({
    name: 'metering_reports_total',
    help: 'Report requests from gateways, by result. "refused": metering refused the usage of at least one grant',
    labelNames: ['result'],
    registers: [service.metrics],
  });
  for (const result of ['applied', 'refused', 'failed']) reports.inc({ result }, 0);
  return {
    acquire: unary<AcquireRequest, AcquireResponse>(service, (request) =>
      withDeadline(metering.acquire(request)),
    ),

    report: unary<ReportRequest, ReportResponse>(service, async ({ holder, usage }) => {
      const { refused, unavailable, unknown, ...senseless } = await withDeadline(
        metering.applyUsage(usage),
      ).catch((error: unknown) => {
        reports.inc({ result: 'failed' });
        throw error;
      });
      const unreadable = [...senseless.unreadable, ...senseless.impossible];
      const notStored = [...unavailable, ...unknown];
      const result = notStored.length > 0 ? 'failed' : 'applied';
      reports.inc({ result: refused.length + unreadable.length > 0 ? 'refused' : result });
      if (unreadable.length > 0)
        service.log.error({ holder, grants: unreadable }, 'unreadable usage refused');
      return { refusedGrantIds: [...refused, ...unreadable], unavailableGrantIds: notStored };
    }),

    readUsage: unary<ReadUsageRequest, ReadUsageResponse>(service, async (request) => ({
      usage: await withDeadline(readMonthUsage(parts, request)),
    })),
  };
}
