import { countBy, gaugesAtScrape, type Service } from '@brand-data/runtime';
import type { MongoNotices } from './mongo-notices.ts';
import { type Notice, type PassedThreshold, THRESHOLDS } from './notice.ts';

export type NoticeEvents = ReturnType<typeof noticeEvents>;

/** Reports notices to Prometheus and the log. */
export function noticeEvents({ log, metrics }: Service, store: Pick<MongoNotices, 'count'>) {
  const countFound = countBy<number>(metrics, {
    name: 'metering_notices_total',
    help: 'Notices of accounts that passed a threshold of their allowance, by the threshold in percent',
    label: 'threshold',
    values: THRESHOLDS,
  });
  const countAttempt = countBy(metrics, {
    name: 'metering_notice_deliveries_total',
    help: 'Attempts to deliver a notice to the webhook: "delivered", "refused" (metering tries again) or "failed" (it has given up)',
    label: 'outcome',
    values: ['delivered', 'refused', 'failed'],
  });
  gaugesAtScrape(metrics, () => store.count(), [
    {
      name: 'metering_notices_waiting',
      help: 'Notices that the webhook has not accepted: "pending" (metering tries again) or "failed" (it has given up)',
      labelNames: ['state'],
      samplesOf: (counts) => Object.entries(counts).map(([state, count]) => [{ state }, count]),
    },
  ]);
  const warn = (problem: string) => (error: unknown) =>
    log.warn({ err: { message: (error as Error).message } }, `${problem}, trying again`);
  return {
    /** Notices were stored. */
    found: (passed: readonly PassedThreshold[]): void => {
      for (const { threshold } of passed) countFound(threshold);
    },
    searchFailed: warn('notices could not be stored'),
    /** An attempt at the webhook ended. `refused`: metering will try again. `failed`: it has given up. */
    attempted: (
      outcome: 'delivered' | 'refused' | 'failed',
      { id, webhook }: Notice,
      reason?: string,
    ): void => {
      countAttempt(outcome);
      const about = { notice: id, attempts: webhook.attempts + 1, reason };
      if (outcome === 'failed') log.error(about, 'a notice was not delivered');
      else if (outcome === 'refused') log.warn(about, 'the webhook refused a notice');
    },
    publishFailed: warn('a notice could not be published'),
    sendFailed: warn('notices could not be sent'),
  };
}
