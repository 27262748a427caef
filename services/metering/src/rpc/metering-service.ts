import { HOLDER_PROOF_METADATA, type MeteringServiceServer } from '@brand-data/contracts';
import { type CallMetadata, countBy, type Service, unary } from '@brand-data/runtime';
import type { Metering } from '../granting/metering.ts';
import { withLedgerDeadline } from '../ledger/ledger-collections.ts';
import { countRejected } from '../ledger/ledger-counters.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import type { Sender, Senders } from '../ledger/senders.ts';
import type { CatchUp } from '../usage/catch-up.ts';
import { readMonthUsage } from './usage-answers.ts';

/** Returns the gRPC service for gateways. See proto/brand_data/v1/metering.proto for messages and errors. */
export function meteringService(
  service: Service,
  {
    metering,
    senders,
    store,
    catchUp,
  }: { metering: Metering; senders: Senders; store: LedgerStore; catchUp: CatchUp },
): MeteringServiceServer {
  const countReport = countBy(service.metrics, {
    name: 'metering_reports_total',
    help: 'Report requests from gateways, by result. "refused": metering refused the usage of at least one grant',
    label: 'result',
    values: ['applied', 'refused', 'failed'],
  });
  const rejected = countRejected(service.metrics);
  const senderOf = ({ holder }: { holder: string }, metadata: CallMetadata): Sender => {
    try {
      return senders.ofRequest(holder, metadata.get(HOLDER_PROOF_METADATA)[0]?.toString());
    } catch (error) {
      rejected('no_proof');
      throw error;
    }
  };
  return {
    acquire: unary(service, async (request, metadata, isOver) =>
      withLedgerDeadline(metering.acquire(request, senderOf(request, metadata), isOver)),
    ),

    report: unary(service, async (request, metadata) => {
      const { holder, usage } = request;
      const sender = senderOf(request, metadata);
      const { refused, unavailable, unknown, ...senseless } = await withLedgerDeadline(
        metering.report(usage, sender),
      ).catch((error: unknown) => {
        countReport('failed');
        throw error;
      });
      const unreadable = [...senseless.unreadable, ...senseless.impossible, ...senseless.foreign];
      const notStored = [...unavailable, ...unknown];
      const result = notStored.length > 0 ? 'failed' : 'applied';
      countReport(refused.length + unreadable.length > 0 ? 'refused' : result);
      if (unreadable.length > 0)
        service.log.error({ holder, grants: unreadable }, 'unreadable usage refused');
      return { refusedGrantIds: [...refused, ...unreadable], unavailableGrantIds: notStored };
    }),

    readUsage: unary(service, async (request) => {
      await metering.checkAllowance(request);
      return {
        usage: await withLedgerDeadline(readMonthUsage({ store, catchUp: catchUp.recently }, request)),
      };
    }),
  };
}
