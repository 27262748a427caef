import type {
  AcquireRequest,
  AcquireResponse,
  MeteringServiceServer,
  ReadUsageRequest,
  ReadUsageResponse,
  ReportRequest,
  ReportResponse,
} from '@brand-data/contracts';
import { Fault, type Service, unary } from '@brand-data/runtime';
import { inTime } from './in-time.ts';
import { acquire, grantIdOf, type Ledger, type LedgerKey } from './ledger.ts';
import type { LedgerStore } from './ledger-store.ts';
import { boundsOfMonth, monthOf } from './month.ts';
import { readMonthUsage } from './month-usage.ts';
import type { UsageConsumer } from './usage-consumer.ts';

const RETRY_AFTER_MS = 100;

/** What gateways call: see proto/brand_data/v1/metering.proto for shapes and errors. */
export function meteringService(
  service: Service,
  parts: { store: LedgerStore; consumer: UsageConsumer },
): MeteringServiceServer {
  const { store } = parts;
  return {
    acquire: unary<AcquireRequest, AcquireResponse>(service, async (request) => {
      checkAcquire(request);
      if (request.usage.length > 0) await inTime(store.applyUsage(request.usage));
      const nowMs = Date.now();
      const key: LedgerKey = { accountId: request.accountId, pool: request.pool, month: monthOf(nowMs) };
      const decide = (before: Ledger) => {
        const { ledger, decision } = acquire(before, request, nowMs);
        return { ledger, result: decision };
      };
      const decision = await inTime(store.update(key, decide));
      const { startMs, endMs } = boundsOfMonth(key.month);
      switch (decision.kind) {
        case 'grant': {
          const { grant, remaining } = decision;
          const value = {
            id: grantIdOf(key, grant.number),
            size: grant.size,
            ttlMs: grant.ttlMs,
            idleMs: grant.idleMs,
            remaining,
            periodStartMs: startMs,
            periodEndMs: endMs,
          };
          return { outcome: { $case: 'grant', value } };
        }
        case 'wait':
          return { outcome: { $case: 'wait', value: { retryAfterMs: RETRY_AFTER_MS } } };
        case 'exhausted':
          return { outcome: { $case: 'exhausted', value: { periodEndMs: endMs } } };
        case 'stale':
          throw new Fault('failed_precondition', 'this seq has no open grant any more: ask with a new seq');
      }
    }),

    report: unary<ReportRequest, ReportResponse>(service, async ({ usage }) => {
      const { refused } = await inTime(store.applyUsage(usage));
      return { refusedGrantIds: refused };
    }),

    readUsage: unary<ReadUsageRequest, ReadUsageResponse>(service, async (request) => ({
      usage: await inTime(readMonthUsage(parts, request)),
    })),
  };
}

function checkAcquire({ holder, seq, accountId, pool, limit, want }: AcquireRequest): void {
  const named = [holder, accountId, pool].every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name));
  if (!named)
    throw new Fault(
      'invalid_argument',
      'holder, account_id and pool are names of 1 to 64 letters, digits, _ and -',
    );
  if (seq < 1 || want < 1 || limit < 0)
    throw new Fault('invalid_argument', 'seq and want are 1 or more, limit 0 or more');
}
