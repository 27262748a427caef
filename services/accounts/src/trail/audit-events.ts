import {
  AUDIT_CONSUMER,
  AUDIT_STREAM,
  AUDIT_SUBJECTS,
  AuditEvent,
  PASS_SERVICES,
} from '@brand-data/contracts';
import {
  checkConsumer,
  countBy,
  ensureStream,
  type Nats,
  retryUntilStopped,
  type Service,
} from '@brand-data/runtime';
import { AckPolicy, DiscardPolicy, type JsMsg, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { type AuditUpdate, auditUpdateOf } from './audit.ts';

const SECONDS_NS = 1_000_000_000;
const LARGEST_MESSAGE = 256 * 1024;
const LARGEST_STREAM = 256 * 1024 ** 2;
const MESSAGES_AT_ONCE = 100;
const PULL_FOR_MS = 5_000;
const AGAIN_AFTER_MS = 1_000;
/** If more messages wait, accounts does not keep up with operators, whose changes are few. */
const MOST_WAITING = 1_000;

/**
 * Creates the stream in which other services leave what operators change. It keeps a message until accounts has stored it. When it
 * is full, it takes no more, and then the services refuse changes.
 */
export async function ensureAuditStream(service: Service, nats: Nats, replicas: number): Promise<void> {
  await ensureStream(service, nats, {
    name: AUDIT_STREAM,
    subjects: [AUDIT_SUBJECTS],
    storage: StorageType.File,
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
    max_bytes: LARGEST_STREAM,
    max_msg_size: LARGEST_MESSAGE,
    num_replicas: replicas,
    deny_purge: true,
  });
}

/**
 * Stores the messages of the stream in the trail until the stop. A message is acknowledged after a majority of the database has
 * stored it, so it may come again, which changes nothing. A message that cannot be read is counted and dropped.
 */
export function followAuditEvents(
  service: Service,
  { js, manager }: Pick<Nats, 'js' | 'manager'>,
  { store, days }: { store: { storeAudit(update: AuditUpdate): Promise<void> }; days: number },
): void {
  const count = countBy(service.metrics, {
    name: 'accounts_audit_events_total',
    help: "Messages about operators' changes at other services that accounts stored, could not read, or could not store yet",
    label: 'result',
    values: ['stored', 'unreadable', 'failed'],
  });

  const take = async (message: JsMsg): Promise<void> => {
    let update: AuditUpdate;
    try {
      update = auditUpdateOf(serviceOf(message.subject), AuditEvent.decode(message.data), days);
    } catch {
      count('unreadable');
      service.log.error(
        { subject: message.subject },
        'a message about a change cannot be read and is dropped',
      );
      message.term('unreadable');
      return;
    }
    try {
      await store.storeAudit(update);
      count('stored');
      message.ack();
    } catch (error) {
      count('failed');
      service.log.warn({ err: { message: (error as Error).message } }, 'the trail could not be written yet');
      message.nak(AGAIN_AFTER_MS);
    }
  };

  const pull = async () => {
    await manager.consumers.add(AUDIT_STREAM, {
      durable_name: AUDIT_CONSUMER,
      ack_policy: AckPolicy.Explicit,
      ack_wait: 30 * SECONDS_NS,
      max_deliver: -1,
    });
    checkConsumer(service, manager, { stream: AUDIT_STREAM, consumer: AUDIT_CONSUMER, most: MOST_WAITING });
    const consumer = await js.consumers.get(AUDIT_STREAM, AUDIT_CONSUMER);
    while (!service.signal.aborted) {
      const messages = await consumer.fetch({ max_messages: MESSAGES_AT_ONCE, expires: PULL_FOR_MS });
      const stop = () => void messages.close();
      service.signal.addEventListener('abort', stop);
      try {
        for await (const message of messages) await take(message);
      } finally {
        service.signal.removeEventListener('abort', stop);
      }
    }
  };

  // It rejects only because of the stop.
  const running = retryUntilStopped('messages about changes', pull, service).catch(() => {});
  service.onStop('trail of changes', () => running);
}

/** Returns the service that the subject belongs to. NATS lets each service publish only to its own. */
function serviceOf(subject: string): string {
  const name = PASS_SERVICES.find((each) => subject.endsWith(`.${each}`));
  if (name === undefined) throw new Error('no such service');
  return name;
}
