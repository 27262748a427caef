import { randomUUID } from 'node:crypto';
import { AUDIT_WITHIN_MS, auditSubject } from './bus.ts';
import { AuditEvent } from './gen/brand_data/v1/accounts.ts';

/** A part of an entry in the trail of changes, as a service knows it. */
interface AuditPart {
  entry: string;
  part: string;
  atMs: number;
  method: string;
  call: {
    operator: { name: string; role: string; credentialId: string };
    from: string;
    requestId: string;
  };
  about: readonly string[];
  details: Readonly<Record<string, string>>;
  counts: Readonly<Record<string, number>>;
}

/**
 * Returns a function that publishes parts of entries as messages of this service, and resolves when the stream has stored them.
 *
 * @param publish publishes to a stream, and measures that under a name
 */
export function auditPublisher(
  service: string,
  publish: (
    name: string,
    subject: string,
    payload: Uint8Array,
    options: { msgID: string; timeout: number },
  ) => Promise<unknown>,
): (part: AuditPart) => Promise<void> {
  return async ({ call: { operator, from, requestId }, about, details, counts, ...part }) => {
    const event = AuditEvent.encode({
      ...part,
      operator: operator.name,
      role: operator.role,
      credentialId: operator.credentialId,
      from,
      requestId,
      about: [...about],
      details: { ...details },
      counts: { ...counts },
    }).finish();
    await publish('audit', auditSubject(service), event, { msgID: randomUUID(), timeout: AUDIT_WITHIN_MS });
  };
}
