import { createHash, randomUUID } from 'node:crypto';
import { AUDIT_WITHIN_MS, AuditEvent, auditSubject } from '@brand-data/contracts';
import { Fault } from '../base/fault.ts';
import type { OperatorCall } from '../grpc/operator.ts';
import { grpcStatusOf } from '../grpc/status.ts';
import { countBy } from '../observe/metrics.ts';
import type { Service } from '../service/service.ts';

/** How many shared entries a process remembers. When it has forgotten an entry, the next call begins a new part of that entry. */
const MOST_OPEN = 1_000;
/** How often the counts of a shared entry are stored. An import may make thousands of calls a second. */
const STORED_EVERY_MS = 1_000;

/** A change that an operator makes, as its entry in the trail describes it. */
export interface AuditedChange extends AuditDetails {
  method: string;
  /** Calls with the same text share an entry if the same operator makes them on the same UTC day. */
  sharedBy?: string;
}

/** A part of an entry: see AuditEvent in proto/brand_data/v1/accounts.proto. */
export interface TrailEvent extends AuditedChange {
  details: Readonly<Record<string, string>>;
  entry: string;
  part: string;
  atMs: number;
  call: OperatorCall;
  counts: Readonly<Record<string, number>>;
}

/** A part that this process has begun. */
interface Open {
  event: TrailEvent;
  /** When the part was last stored, in milliseconds of the monotonic clock. */
  storedMs: number;
  /** Set if the part has counts that are not stored yet. */
  storing?: NodeJS.Timeout;
}

/** Records operators' changes in the trail, which the accounts service keeps. */
export class Trail {
  readonly #log: Service['log'];
  readonly #store: (event: TrailEvent) => Promise<void>;
  readonly #countLost: (stage: 'before' | 'after') => void;
  readonly #shared = new Map<string, Open>();

  /** @param store resolves when a message to the trail is durable, and rejects if that takes too long */
  constructor(
    { log, metrics, onStop }: Pick<Service, 'log' | 'metrics' | 'onStop'>,
    store: (event: TrailEvent) => Promise<void>,
  ) {
    this.#log = log;
    this.#store = store;
    this.#countLost = countBy(metrics, {
      name: 'grpc_operator_trail_failures_total',
      help: 'Messages to the trail of changes that could not be stored: "before" a change, which was then refused, or "after" it',
      label: 'stage',
      values: ['before', 'after'],
    });
    onStop('trail of changes', () => {
      const unstored = [...this.#shared.values()].filter(({ storing }) => storing);
      return Promise.all(unstored.map((open) => this.#storeOutcome(open)));
    });
  }

  /**
   * Records that the change begins, makes it, and records its outcome and the figures that `countsOf` returns. Calls that share an
   * entry within a second also share these two messages. Rejects with Fault `unavailable`, without making the change, if the first
   * message cannot be stored.
   */
  async record<Result>(
    call: OperatorCall,
    audited: AuditedChange,
    change: () => Promise<Result>,
    countsOf: (result: Result) => Record<string, number> = () => ({}),
  ): Promise<Result> {
    const open = this.#partOf(call, audited);
    const { event } = open;
    event.atMs = Date.now();
    count(event, { calls: 1 });
    await this.#storeBegin(open);
    try {
      const result = await change();
      count(event, { done: 1, ...countsOf(result) });
      return result;
    } catch (error) {
      count(event, { failed: 1 });
      event.details = { ...event.details, failure: grpcStatusOf(error).details };
      throw error;
    } finally {
      await this.#end(open);
    }
  }

  /** Begins a part of an entry, or continues the one that this process has begun. */
  #partOf(call: OperatorCall, audited: AuditedChange): Open {
    const details = auditDetails(audited.details);
    const fresh = (entry: string): Open => ({
      event: { ...audited, details, call, entry, part: randomUUID(), atMs: 0, counts: {} },
      storedMs: Number.NEGATIVE_INFINITY,
    });
    if (audited.sharedBy === undefined) return fresh(randomUUID());
    const { name, credentialId } = call.operator;
    // The day is part of the text, so that an operator cannot hide calls in an old entry by repeating its `sharedBy`.
    const day = new Date().toISOString().slice(0, 10);
    const text = JSON.stringify([day, name, credentialId, audited.method, audited.sharedBy]);
    const entry = createHash('sha256').update(text).digest('hex').slice(0, 32);
    const open = this.#shared.get(entry) ?? fresh(entry);
    this.#shared.delete(entry);
    this.#shared.set(entry, open);
    this.#forgetOldest();
    return open;
  }

  #forgetOldest(): void {
    for (const [oldest, forgotten] of this.#shared) {
      if (this.#shared.size <= MOST_OPEN) return;
      if (forgotten.storing) void this.#storeOutcome(forgotten);
      this.#shared.delete(oldest);
    }
  }

  async #storeBegin(open: Open): Promise<void> {
    try {
      if (!isStoredOften(open)) await this.#storeNow(open);
    } catch (cause) {
      this.#countLost('before');
      const detail = 'the trail of changes cannot be written now, so nothing was changed: try again';
      throw new Fault('unavailable', detail, { cause });
    }
  }

  async #end(open: Open): Promise<void> {
    if (isStoredOften(open))
      open.storing ??= setTimeout(() => this.#storeOutcome(open), STORED_EVERY_MS).unref();
    else await this.#storeOutcome(open);
    // An import makes many calls. One line for each of them would add nothing to the first.
    if (open.event.sharedBy === undefined || open.event.counts.calls === 1)
      this.#logEvent('an operator made a change', open.event);
  }

  async #storeOutcome(open: Open): Promise<void> {
    try {
      await this.#storeNow(open);
    } catch (error) {
      this.#countLost('after');
      const { message } = error as Error;
      this.#log.error({ err: { message } }, 'the outcome of a change is only in this log');
      this.#logEvent('a change whose outcome the trail lacks', open.event);
    }
  }

  async #storeNow(open: Open): Promise<void> {
    clearTimeout(open.storing);
    delete open.storing;
    open.storedMs = performance.now();
    try {
      await this.#store({ ...open.event });
    } catch (error) {
      open.storedMs = Number.NEGATIVE_INFINITY;
      throw error;
    }
  }

  #logEvent(text: string, { call, counts, entry, method, about, details }: TrailEvent): void {
    const { operator, from, requestId } = call;
    this.#log.info({ audit: { entry, method, ...operator, from, requestId, about, details, counts } }, text);
  }
}

function isStoredOften({ event, storedMs }: Open): boolean {
  return event.sharedBy !== undefined && performance.now() - storedMs < STORED_EVERY_MS;
}

function count(event: TrailEvent, more: Record<string, number>): void {
  for (const [name, value] of Object.entries(more))
    event.counts = { ...event.counts, [name]: (event.counts[name] ?? 0) + value };
}

/**
 * Returns a function that publishes events of a service's trail, and resolves when the stream has stored them.
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
): (event: TrailEvent) => Promise<void> {
  return async ({ call: { operator, from, requestId }, about, details, counts, ...event }) => {
    const { name, role, credentialId } = operator;
    const by = { operator: name, role, credentialId, from, requestId };
    const message = { ...event, ...by, about: [...about], details: { ...details }, counts: { ...counts } };
    const payload = AuditEvent.encode(message).finish();
    await publish('audit', auditSubject(service), payload, { msgID: randomUUID(), timeout: AUDIT_WITHIN_MS });
  };
}

const LONGEST_DETAIL = 1_000;

/** The details that the audit trail stores about a change. They never hold a secret. */
export interface AuditDetails {
  /** The ids and names that the change is about, by which people look for it. */
  about: readonly string[];
  /** The request's fields that are worth auditing, and the values that they replaced. */
  details: Readonly<Record<string, string | undefined>>;
}

/** Returns the details as the trail stores them: without those that are empty, and long ones shortened. */
export function auditDetails(details: AuditDetails['details']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(details).flatMap(([name, value]) => (value ? [[name, auditDetail(value)]] : [])),
  );
}

/** Shortens a detail that is too long for the trail. */
export function auditDetail(value: string): string {
  return value.length <= LONGEST_DETAIL ? value : `${value.slice(0, LONGEST_DETAIL - 1)}…`;
}
