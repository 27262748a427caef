import { randomUUID } from 'node:crypto';
import type { AuditEntry, AuditEvent, ListAuditRequest } from '@brand-data/contracts';
import {
  type AuditDetails,
  auditDetail,
  auditDetails,
  Fault,
  type OperatorCall,
  olderThan,
} from '@brand-data/runtime';
import type { Filter, UpdateFilter } from 'mongodb';

const DAY_MS = 86_400_000;
const DEFAULT_LIMIT = 100;
const HIGHEST_LIMIT = 1_000;

/**
 * An entry of the trail: a change that an operator has made. Nothing changes an entry of accounts once it is written. An entry of
 * another service may stand for many calls, such as those of an import. It grows by their counts.
 */
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
  /** The telling fields of the request, and what they replaced. Never a secret. Absent if there are none. */
  details?: Record<string, string>;
  /** Only of accounts. */
  outcome?: 'done';
  /** Only of other services: what each of their processes has counted, by the process's part and the name of the count. */
  parts?: Record<string, Record<string, number>>;
  /** Only of other services: when the last call began. */
  lastAt?: Date;
  /** MongoDB removes the entry at this time. */
  expiresAt: Date;
}

export function auditEntry(
  { operator, from, requestId }: OperatorCall,
  method: string,
  { about, details }: AuditDetails,
  { nowMs, days }: { nowMs: number; days: number },
): AuditDoc {
  return {
    _id: randomUUID(),
    at: new Date(nowMs),
    service: 'accounts',
    method,
    from,
    requestId,
    operator: operator.name,
    role: operator.role,
    credentialId: operator.credentialId,
    about: [...new Set(about)],
    details: auditDetails(details),
    outcome: 'done',
    expiresAt: new Date(nowMs + days * DAY_MS),
  };
}

export function auditToProto(entry: AuditDoc): AuditEntry {
  const { _id, at, lastAt = at, expiresAt, about, parts = {}, details = {}, outcome, ...change } = entry;
  const counts: Record<string, number> = {};
  for (const part of Object.values(parts))
    for (const [name, value] of Object.entries(part)) counts[name] = (counts[name] ?? 0) + value;
  return {
    ...change,
    id: _id,
    counts,
    details,
    atMs: at.getTime(),
    lastAtMs: lastAt.getTime(),
    outcome: outcome ?? outcomeOf(counts),
  };
}

function outcomeOf({ calls = 0, done = 0, failed = 0 }: Record<string, number>): string {
  if (calls > done + failed) return 'unfinished';
  if (failed === 0) return 'done';
  return done === 0 ? 'failed' : 'partly failed';
}

/** How a message of another service changes its entry. */
export type AuditUpdate = ReturnType<typeof auditUpdateOf>;
/** A page of the trail, latest first. */
export type AuditPage = ReturnType<typeof requirePage>;

const ID = /^[\w-]{1,64}$/;
const NAME = /^[a-z][a-z_]{0,31}$/i;
const MOST_COUNTS = 20;
const MOST_ABOUT = 500;

/**
 * Throws if the message is not one that a service sends. The counts of a part only grow, so the update takes the larger ones: it has
 * the same effect in any order and any number of times. The entry's id begins with the service, so no service can change an entry
 * of another.
 */
export function auditUpdateOf(service: string, event: AuditEvent, days: number) {
  const { entry, part, method, operator, role, credentialId, from, requestId } = event;
  const counts = Object.entries(event.counts);
  const names = [method, ...counts.map(([name]) => name), ...Object.keys(event.details)];
  const isNamed = ID.test(entry) && ID.test(part) && names.every((name) => NAME.test(name));
  if (!isNamed || counts.length > MOST_COUNTS || event.about.length > MOST_ABOUT)
    throw new Error('not an event of the trail');
  const at = new Date(event.atMs);
  if (Number.isNaN(at.getTime())) throw new Error('not a time');
  const { failure, ...details } = event.details;
  return {
    _id: `${service}-${entry}`,
    update: {
      $setOnInsert: {
        service,
        method,
        operator,
        role,
        credentialId,
        from,
        requestId,
        about: [...new Set(event.about)],
        expiresAt: new Date(event.atMs + days * DAY_MS),
        ...Object.fromEntries(
          Object.entries(details).map(([name, value]) => [`details.${name}`, auditDetail(value)]),
        ),
      },
      ...(failure !== undefined && { $set: { 'details.failure': auditDetail(failure) } }),
      $min: { at },
      $max: {
        lastAt: at,
        ...Object.fromEntries(counts.map(([name, value]) => [`parts.${part}.${name}`, value])),
      },
    } as UpdateFilter<AuditDoc>,
  };
}

/** Throws Fault `invalid_argument` if the request is not one that `bds` would send. */
export function requirePage({ limit, after, sinceMs, untilMs, ...equal }: ListAuditRequest) {
  if (limit < 0 || limit > HIGHEST_LIMIT)
    throw new Fault('invalid_argument', `a page can have at most ${HIGHEST_LIMIT} entries`);
  const { operator, service, method, about } = equal;
  const given = Object.entries({ operator, service, method, about }).filter(([, value]) => value !== '');
  const at = {
    ...(sinceMs !== undefined && { $gte: new Date(sinceMs) }),
    ...(untilMs !== undefined && { $lt: new Date(untilMs) }),
  };
  const conditions: Filter<AuditDoc>[] = [
    Object.fromEntries(given),
    ...(Object.keys(at).length === 0 ? [] : [{ at }]),
    ...(after === '' ? [] : [olderThan(after)]),
  ];
  return { filter: { $and: conditions }, limit: limit === 0 ? DEFAULT_LIMIT : limit };
}
