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

/** Encodes the part as an AuditEvent. */
export function encodeAuditEvent({ call, about, details, counts, ...part }: AuditPart): Uint8Array {
  const { operator, from, requestId } = call;
  const { entry, part: name, atMs, method } = part;
  const { name: who, role, credentialId } = operator;
  return AuditEvent.encode({
    ...{ entry, part: name, atMs, method, operator: who, role, credentialId, from, requestId },
    ...{ about: [...about], details: { ...details }, counts: { ...counts } },
  }).finish();
}
