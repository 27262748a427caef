import { randomUUID } from 'node:crypto';
import {
  isMonth,
  type ListNoticesRequest,
  type ListNoticesResponse,
  NoticeState,
  type Notice as NoticeToOperator,
  type RedeliverNoticesRequest,
  type RedeliverNoticesResponse,
  type TestWebhookResponse,
} from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { testEvent } from './cloud-event.ts';
import type { MongoNotices } from './mongo-notices.ts';
import type { Notice, WebhookState } from './notice.ts';
import type { Webhook } from './webhook.ts';

const MOST_NOTICES = 500;
const DEFAULT_LIMIT = 100;

export interface NoticeAdmin {
  store: MongoNotices;
  webhook: Webhook | undefined;
}

/** Returns a page of notices. See ListNotices in proto/brand_data/v1/metering.proto. */
export async function listNotices(
  { store }: NoticeAdmin,
  { accountId, month, state, limit, after }: ListNoticesRequest,
): Promise<ListNoticesResponse> {
  if (month !== '' && !isMonth(month))
    throw new Fault('invalid_argument', 'a month is YYYY-MM, for example 2026-11');
  if (limit < 0 || limit > MOST_NOTICES)
    throw new Fault('invalid_argument', `a page can have at most ${MOST_NOTICES} notices`);
  const page = { accountId, month, state: STATE_OF.get(state), limit: limit || DEFAULT_LIMIT, after };
  const { notices, next } = await store.list(page);
  return { notices: notices.map(noticeToProto), next };
}

export async function redeliverNotices(
  { store, webhook }: NoticeAdmin,
  { ids }: RedeliverNoticesRequest,
): Promise<RedeliverNoticesResponse> {
  requireWebhook(webhook);
  if (ids.length > MOST_NOTICES)
    throw new Fault('invalid_argument', `a request can name at most ${MOST_NOTICES} notices`);
  return { ids: await store.redeliver(ids.length === 0 ? 'all failed' : ids, new Date()) };
}

/** Sends a test event once. */
export async function testWebhook({ webhook }: NoticeAdmin): Promise<TestWebhookResponse> {
  const now = new Date();
  const id = `test/${randomUUID()}`;
  const answer = await requireWebhook(webhook).send(id, testEvent(id, now), now.getTime());
  const isAccepted = answer.kind === 'accepted';
  return { id, isAccepted, failure: isAccepted ? '' : answer.reason };
}

function requireWebhook(webhook: Webhook | undefined): Webhook {
  if (webhook) return webhook;
  throw new Fault(
    'failed_precondition',
    'metering has no webhook: set NOTICE_WEBHOOK_URL and NOTICE_WEBHOOK_SECRETS (metering.notices in the chart)',
  );
}

const PROTO_STATE: Readonly<Record<WebhookState, NoticeState>> = {
  none: NoticeState.NONE,
  pending: NoticeState.PENDING,
  delivered: NoticeState.DELIVERED,
  failed: NoticeState.FAILED,
};
const STATE_OF = new Map(
  Object.entries(PROTO_STATE).map(([state, proto]) => [proto, state as WebhookState] as const),
);

function noticeToProto({ at, webhook, ...notice }: Notice): NoticeToOperator {
  return {
    ...notice,
    atMs: at.getTime(),
    state: PROTO_STATE[webhook.state],
    attempts: webhook.attempts,
    failure: webhook.failure ?? '',
    lastAttemptMs: webhook.lastAt?.getTime(),
    nextAttemptMs: webhook.nextAt?.getTime(),
  };
}
