import { type Clock, elapsedMs } from '@brand-data/runtime';
import { cloudEventOf } from './cloud-event.ts';
import type { ClaimedNotice, MongoNotices } from './mongo-notices.ts';
import type { Delivery, Notice } from './notice.ts';
import type { NoticeEvents } from './notice-events.ts';
import { repeat } from './repeated.ts';
import type { Webhook } from './webhook.ts';

const LOOK_EVERY_MS = 1_000;
const SENT_AT_ONCE = 8;
/** Longer than all attempts at one notice take. Then another replica may continue with the notice of one that crashed. */
const CLAIM_MS = 60_000;
const PUBLISH_AGAIN_MS = 5_000;
/**
 * After an attempt that took longer than the first time, no other one begins for the second time. Meanwhile the notices that wait for
 * the webhook go to NATS, which would otherwise get eight in the time of an attempt.
 */
const SLOW = { afterMs: 1_000, restMs: 2_000 };
const LOOK_FOR_WEBHOOK_MS = 300_000;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** The pauses between the attempts to deliver a notice: eight attempts in 27 and a half hours. */
const PAUSES_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
/** The pauses are longer by up to this share, so that a receiver which was away does not get everything at once. */
const JITTER = 0.1;

/**
 * Publishes each notice on NATS and delivers it to the webhook. A replica claims a notice for a minute, so normally only one sends
 * it. If the replica crashes after the receiver's answer, another sends the notice again with the same id.
 */
export function createNoticeSender(
  {
    store,
    clock,
    webhook,
    publish,
  }: {
    store: MongoNotices;
    clock: Clock;
    /** Absent: no webhook is set. */
    webhook: Webhook | undefined;
    /** Puts the notice into the stream. Rejects if the stream did not store it in time. */
    publish(notice: Notice): Promise<void>;
  },
  events: Pick<NoticeEvents, 'attempted' | 'publishFailed' | 'sendFailed'>,
) {
  const now = () => new Date(clock.now().wallMs);
  const after = (ms: number) => new Date(now().getTime() + ms);
  let restUntil = new Date(0);

  const publishOnce = async (notice: ClaimedNotice): Promise<boolean> => {
    if (notice.isPublished) return true;
    try {
      await publish(notice);
      return true;
    } catch (error) {
      events.publishFailed(error);
      return false;
    }
  };

  const deliver = async (notice: ClaimedNotice): Promise<Delivery> => {
    const { state, nextAt, attempts } = notice.webhook;
    if (state !== 'pending' || !webhook || (nextAt !== undefined && nextAt > now())) return notice.webhook;
    if (restUntil > now()) return { ...notice.webhook, nextAt: restUntil };
    const began = clock.now();
    const answer = await webhook.send(notice.id, cloudEventOf(notice), now().getTime());
    if (elapsedMs(began, clock.now()) > SLOW.afterMs) restUntil = after(SLOW.restMs);
    const made = attempts + 1;
    const attempted = { attempts: made, lastAt: now() };
    if (answer.kind === 'accepted') {
      events.attempted('delivered', notice);
      return { state: 'delivered', ...attempted };
    }
    const pauseMs = PAUSES_MS[attempts];
    const failure = answer.reason;
    if (answer.kind === 'gone' || pauseMs === undefined) {
      events.attempted('failed', notice, failure);
      return { state: 'failed', ...attempted, failure };
    }
    events.attempted('refused', notice, failure);
    const waitMs = Math.max(pauseMs * (1 + JITTER * Math.random()), answer.retryAfterMs);
    return { state: 'pending', ...attempted, failure, nextAt: after(waitMs) };
  };

  /** When a webhook is no longer set, its notices stay pending until one is set again. */
  const dueOf = ({ state, nextAt }: Delivery): Date[] => {
    if (state !== 'pending') return [];
    return [webhook && nextAt ? nextAt : after(LOOK_FOR_WEBHOOK_MS)];
  };

  const send = async (notice: ClaimedNotice): Promise<void> => {
    const [isPublished, delivery] = await Promise.all([publishOnce(notice), deliver(notice)]);
    const due = [...(isPublished ? [] : [after(PUBLISH_AGAIN_MS)]), ...dueOf(delivery)];
    const [dueAt] = due.toSorted((a, b) => a.getTime() - b.getTime());
    await store.update(notice, { isPublished, webhook: delivery }, dueAt);
  };

  /** Sends all notices that are due. */
  const sendDue = async (stopped: AbortSignal): Promise<void> => {
    const next = async (): Promise<void> => {
      while (!stopped.aborted) {
        const notice = await store.claim(now(), after(CLAIM_MS));
        if (!notice) return;
        await send(notice);
      }
    };
    await Promise.all(Array.from({ length: SENT_AT_ONCE }, next));
  };

  return {
    sendDue,
    /** Does so now, and then every second. */
    run: () => repeat(sendDue, { everyMs: () => LOOK_EVERY_MS, failed: events.sendFailed }),
  };
}
