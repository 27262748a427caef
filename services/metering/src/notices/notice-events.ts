import type { Service } from '@brand-data/runtime';
import { Counter, Gauge } from 'prom-client';
import type { Notice } from './notice.ts';
import type { NoticeStore } from './notice-store.ts';
import { type PassedThreshold, THRESHOLDS } from './thresholds.ts';

export interface NoticeEvents {
  /** Notices were stored. */
  found(passed: readonly PassedThreshold[]): void;
  searchFailed(error: unknown): void;
  /** An attempt at the webhook ended. `refused`: metering will try again. `failed`: it has given up. */
  attempted(outcome: 'delivered' | 'refused' | 'failed', notice: Notice, reason?: string): void;
  publishFailed(error: unknown): void;
  sendFailed(error: unknown): void;
}

/** Reports notices to Prometheus and the log. */
export function noticeEvents({ log, metrics }: Service, store: NoticeStore): NoticeEvents {
  const registers = [metrics];
  const notices = new Counter({
    name: 'metering_notices_total',
    help: 'Notices of accounts that passed a threshold of their allowance, by the threshold in percent',
    labelNames: ['threshold'],
    registers,
  });
  for (const threshold of THRESHOLDS) notices.inc({ threshold }, 0);
  const attempts = new Counter({
    name: 'metering_notice_deliveries_total',
    help: 'Attempts to deliver a notice to the webhook: "delivered", "refused" (metering tries again) or "failed" (it has given up)',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['delivered', 'refused', 'failed']) attempts.inc({ outcome }, 0);
  new Gauge({
    name: 'metering_notices_waiting',
    help: 'Notices that the webhook has not accepted: "pending" (metering tries again) or "failed" (it has given up)',
    labelNames: ['state'],
    registers,
    async collect() {
      this.reset();
      const counts = await store.count().catch(() => undefined);
      if (counts) for (const [state, count] of Object.entries(counts)) this.set({ state }, count);
    },
  });
  const messageOf = (error: unknown) => ({ message: (error as Error).message });
  return {
    found: (passed) => {
      for (const { threshold } of passed) notices.inc({ threshold });
    },
    searchFailed: (error) => log.warn({ err: messageOf(error) }, 'notices could not be stored, trying again'),
    attempted: (outcome, { id, webhook }, reason) => {
      attempts.inc({ outcome });
      if (outcome === 'failed')
        log.error({ notice: id, attempts: webhook.attempts + 1, reason }, 'a notice was not delivered');
      else if (outcome === 'refused')
        log.warn({ notice: id, attempts: webhook.attempts + 1, reason }, 'the webhook refused a notice');
    },
    publishFailed: (error) =>
      log.warn({ err: messageOf(error) }, 'a notice could not be published, trying again'),
    sendFailed: (error) => log.warn({ err: messageOf(error) }, 'notices could not be sent, trying again'),
  };
}
