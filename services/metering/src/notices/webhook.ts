import { createHmac } from 'node:crypto';
import { parseWebhookSecrets, type Service } from '@brand-data/runtime';
import { CLOUD_EVENT_TYPE } from './cloud-event.ts';

const ANSWER_WITHIN_MS = 10_000;
const GONE = 410;
const LONGEST_RETRY_AFTER_S = 86_400;

/** A webhook's answer. `accepted`: any status 2xx. `gone`: the receiver wants no more attempts. */
type Answer =
  | { kind: 'accepted' }
  /** `reason` holds no URL. `retryAfterMs`: the receiver asks for a pause. */
  | { kind: 'refused' | 'gone'; reason: string; retryAfterMs: number };

export type Webhook = ReturnType<typeof createWebhook>;

/** Returns the webhook of the settings. undefined: none is set. The secrets are read again when their file changes. */
export function webhookOf(
  service: Pick<Service, 'onSettingChange'>,
  settings: { NOTICE_WEBHOOK_URL: string | undefined; NOTICE_WEBHOOK_SECRETS: readonly Buffer[] | undefined },
): Webhook | undefined {
  const { NOTICE_WEBHOOK_URL: url, NOTICE_WEBHOOK_SECRETS: secrets } = settings;
  if (url === undefined || secrets === undefined) return undefined;
  let keys = secrets;
  service.onSettingChange('NOTICE_WEBHOOK_SECRETS', (text) => {
    keys = parseWebhookSecrets(text);
  });
  return createWebhook(url, () => keys);
}

/**
 * @param keys each makes a signature, so that the receiver may know either while one replaces the other
 */
export function createWebhook(url: string, keys: () => readonly Buffer[]) {
  return {
    /**
     * Sends the event, signed as Standard Webhooks prescribe. Never rejects.
     *
     * @param id the same in each attempt to deliver the same event
     * @param nowMs since 1970
     */
    send: async (id: string, event: string, nowMs: number): Promise<Answer> => {
      const timestamp = String(Math.floor(nowMs / 1000));
      try {
        const response = await fetch(url, {
          method: 'POST',
          body: event,
          headers: {
            'content-type': CLOUD_EVENT_TYPE,
            'webhook-id': id,
            'webhook-timestamp': timestamp,
            'webhook-signature': keys()
              .map((key) => signatureOf(key, `${id}.${timestamp}.${event}`))
              .join(' '),
          },
          // A redirect may lead anywhere, so it counts as a refusal.
          redirect: 'manual',
          signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
        });
        await response.body?.cancel();
        if (response.ok) return { kind: 'accepted' };
        const { status } = response;
        const retryAfterMs = retryAfterOf(response.headers.get('retry-after'));
        return { kind: status === GONE ? 'gone' : 'refused', reason: `status ${status}`, retryAfterMs };
      } catch (error) {
        return { kind: 'refused', reason: reasonOf(error), retryAfterMs: 0 };
      }
    },
  };
}

/** Version 1 of the signatures: HMAC with SHA-256. */
function signatureOf(key: Buffer, text: string): string {
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}

function retryAfterOf(header: string | null): number {
  const seconds = /^\d{1,9}$/.test(header ?? '') ? Number(header) : 0;
  return Math.min(seconds, LONGEST_RETRY_AFTER_S) * 1000;
}

/** Names the kind of failure: messages of the network may hold the URL. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  const { code } = ((error as Error).cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? `no connection (${code})` : 'no connection';
}
