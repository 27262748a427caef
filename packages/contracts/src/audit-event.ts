import { randomUUID } from 'node:crypto';
import { AUDIT_WITHIN_MS, auditSubject } from './bus.ts';
import { AuditEvent } from './gen/brand_data/v1/accounts.ts';

/** A part of an entry in the trail of changes, as a service knows it. */
export interface AuditPart {
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
  return async (part) => {
    const options = { msgID: randomUUID(), timeout: AUDIT_WITHIN_MS };
    await publish('audit', auditSubject(service), encodeAuditEvent(part), options);
  };
}

/** Encodes the part as an AuditEvent. */
function encodeAuditEvent({ call, about, details, counts, ...part }: AuditPart): Uint8Array {
  const { operator, from, requestId } = call;
  const { entry, part: name, atMs, method } = part;
  const { name: who, role, credentialId } = operator;
  return AuditEvent.encode({
    entry,
    part: name,
    atMs,
    method,
    operator: who,
    role,
    credentialId,
    from,
    requestId,
    about: [...about],
    details: { ...details },
    counts: { ...counts },
  }).finish();
}
