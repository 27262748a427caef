import { randomUUID } from 'node:crypto';
import type { AuditEntry, ListAuditRequest } from '@brand-data/contracts';
import { Fault, type OperatorCall } from '@brand-data/runtime';
import type { Filter } from 'mongodb';

const LONGEST_DETAIL = 1_000;
const DAY_MS = 86_400_000;
const DEFAULT_LIMIT = 100;
const HIGHEST_LIMIT = 1_000;

/** An entry of the trail: a change that an operator has made. Nothing changes an entry once it is written. */
export interface AuditDoc {
  _id: string;
  at: Date;
  service: string;
  method: string;
  operator: string;
  role: string;
  credentialId: string;
  from: string;
  requestId: string;
  /** The ids and names that the change is about, by which people look for it. */
  about: string[];
  /** The telling fields of the request, and what they replaced. Never a secret. */
  details: Record<string, string>;
  outcome: 'done';
  /** MongoDB removes the entry at this time. */
  expiresAt: Date;
}

/** What a change says about itself in the trail. */
export interface Told {
  about: readonly string[];
  details: Readonly<Record<string, string | undefined>>;
}

export function auditEntry(
  { operator, from, requestId }: OperatorCall,
  method: string,
  { about, details }: Told,
  { nowMs, days }: { nowMs: number; days: number },
): AuditDoc {
  return {
    _id: randomUUID(),
    at: new Date(nowMs),
    ...{ service: 'accounts', method, from, requestId },
    ...{ operator: operator.name, role: operator.role, credentialId: operator.credentialId },
    about: [...new Set(about)],
    details: Object.fromEntries(
      Object.entries(details).flatMap(([name, value]) =>
        value === undefined || value === '' ? [] : [[name, shortened(value)]],
      ),
    ),
    outcome: 'done',
    expiresAt: new Date(nowMs + days * DAY_MS),
  };
}

function shortened(value: string): string {
  return value.length <= LONGEST_DETAIL ? value : `${value.slice(0, LONGEST_DETAIL - 1)}…`;
}

export function auditToProto({
  _id,
  at,
  about: _about,
  expiresAt: _expiresAt,
  ...entry
}: AuditDoc): AuditEntry {
  return { id: _id, atMs: at.getTime(), ...entry };
}

/** A page of the trail, latest first. */
export interface AuditPage {
  filter: Filter<AuditDoc>;
  limit: number;
}

/** Throws Fault `invalid_argument` if the request is not one that `bds` would send. */
export function requirePage({ limit, after, sinceMs, untilMs, ...equal }: ListAuditRequest): AuditPage {
  if (limit < 0 || limit > HIGHEST_LIMIT)
    throw new Fault('invalid_argument', `limit must be from 1 to ${HIGHEST_LIMIT}`);
  const { operator, service, method, about } = equal;
  const given = Object.entries({ operator, service, method, about }).filter(([, value]) => value !== '');
  const at = {
    ...(sinceMs === undefined ? {} : { $gte: new Date(sinceMs) }),
    ...(untilMs === undefined ? {} : { $lt: new Date(untilMs) }),
  };
  const conditions: Filter<AuditDoc>[] = [
    Object.fromEntries(given),
    ...(Object.keys(at).length === 0 ? [] : [{ at }]),
    ...(after === '' ? [] : [olderThan(after)]),
  ];
  return { filter: { $and: conditions }, limit: limit === 0 ? DEFAULT_LIMIT : limit };
}

/** Where a page ends, as `after` of the next request. */
export function endOfPage({ _id, at }: AuditDoc): string {
  return `${at.getTime()}.${_id}`;
}

function olderThan(after: string): Filter<AuditDoc> {
  const [, atMs, _id] = /^(\d{1,15})\.([\w-]{1,64})$/.exec(after) ?? [];
  if (atMs === undefined || _id === undefined)
    throw new Fault('invalid_argument', 'after must be `next` of an earlier answer');
  const at = new Date(Number(atMs));
  return { $or: [{ at: { $lt: at } }, { at, _id: { $lt: _id } }] };
}
