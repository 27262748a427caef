import type { Grant, GrantUsage, Route, UsageCell } from '@brand-data/contracts';
import { elapsedMs, type Instant } from '@brand-data/runtime';

/** A grant in this gateway's hands. */
export interface HeldGrant {
  readonly id: string;
  /** The holding that it belongs to. */
  readonly holdingKey: string;
  readonly size: number;
  readonly ttlMs: number;
  readonly idleMs: number;
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  /** When its Acquire was first sent: its time runs from here. */
  readonly since: Instant;
  /** Permits of calls that are admitted and have no outcome yet. */
  reserved: number;
  used: number;
  /** Used permits whose usage is not known to be durable. */
  unsettled: number;
  /** Permits given back while the grant is open. */
  returned: number;
  lastUse: Instant;
  /** No more calls are admitted on it. */
  retired: boolean;
  /** Retired, with no call under way: its usage is final. */
  closed: boolean;
  /** When the stream acknowledged its close. */
  storedAt: Instant | undefined;
  /** Metering settled it without this gateway: its usage does not count any more. */
  refused: boolean;
  /** The breakdown of the used permits. */
  readonly cells: Map<string, UsageCell>;
  /** Cells whose present count is not known to be durable. */
  readonly unsureCells: Set<UsageCell>;
  /** Permits used and returned that metering itself has stored; the stream may hold more. */
  reported: number;
  /** Freed permits that metering itself has stored. */
  reportedFreed: number;
}

/** A grant's usage as it goes out in one message. */
export interface UsageSnapshot {
  readonly usage: GrantUsage;
  /** Permits used and returned. */
  readonly progress: number;
  /** Permits that others may have once it is applied. */
  readonly freed: number;
  /** The cells that `usage.cells` are copies of. */
  readonly cells: readonly UsageCell[];
}

/** A breakdown of up to this many cells always goes out whole. */
const CELLS_ALWAYS_REPORTED = 8;

export function newHeldGrant(
  { id, size, ttlMs, idleMs, periodStartMs, periodEndMs }: Grant,
  holdingKey: string,
  since: Instant,
  now: Instant,
): HeldGrant {
  return {
    ...{ id, holdingKey, size, ttlMs, idleMs, periodStartMs, periodEndMs, since },
    ...{ reserved: 0, used: 0, unsettled: 0, returned: 0, lastUse: now, reported: 0, reportedFreed: 0 },
    ...{ retired: false, closed: false, storedAt: undefined, refused: false },
    ...{ cells: new Map(), unsureCells: new Set() },
  };
}

/** Turns a reserved permit into a used one, for a call that is answered on this day (YYYY-MM-DD). */
export function useOne(
  grant: HeldGrant,
  { keyId, route, status, day }: { keyId: string; route: Route; status: number; day: string },
): void {
  grant.reserved -= 1;
  grant.used += 1;
  grant.unsettled += 1;
  const name = `${keyId} ${route} ${status} ${day}`;
  let cell = grant.cells.get(name);
  if (!cell) {
    cell = { keyId, route, status, day, count: 0 };
    grant.cells.set(name, cell);
  }
  cell.count += 1;
  grant.unsureCells.add(cell);
}

/**
 * A grant's usage so far. It is cumulative; of a large breakdown it has only the cells that are not known to be durable, unless
 * it closes the grant.
 */
export function snapshotOf(grant: HeldGrant): UsageSnapshot {
  const { id, used, returned, closed } = grant;
  const partial = cellsToReport(grant) < grant.cells.size;
  const cells = [...(partial ? grant.unsureCells : grant.cells.values())];
  return {
    usage: { grantId: id, used, returned, closed, cells: cells.map((cell) => ({ ...cell })), partial },
    ...{ progress: progressOf(grant), freed: freedOf(grant) },
    cells,
  };
}

/** How many cells a snapshot of the grant has. */
export function cellsToReport({ closed, cells, unsureCells }: HeldGrant): number {
  return closed || cells.size <= CELLS_ALWAYS_REPORTED ? cells.size : unsureCells.size;
}

/** The snapshot is durable: cells that have not changed since need not go out again. */
export function markDurable(grant: HeldGrant, { usage, cells }: UsageSnapshot): void {
  for (const [index, cell] of cells.entries())
    if (cell.count === usage.cells[index]?.count) grant.unsureCells.delete(cell);
}

/** Permits used and returned: a figure that only grows. */
export function progressOf({ used, returned }: HeldGrant): number {
  return used + returned;
}

/** Permits that no call here can have any more: others may have them. */
export function freedOf({ closed, size, used, returned }: HeldGrant): number {
  return closed ? size - used : returned;
}

/** Permits that a call can take now. */
export function freeOf(grant: HeldGrant): number {
  return grant.retired ? 0 : grant.size - grant.returned - grant.used - grant.reserved;
}

/** No call of it is under way, and no usage waits to be durable. */
export function isQuiet(grant: HeldGrant): boolean {
  return grant.reserved === 0 && grant.unsettled === 0;
}

export function isSpent(grant: HeldGrant): boolean {
  return grant.used + grant.returned >= grant.size;
}

/** It can or need not admit another call: it is spent, idle or over, and is closed once it is quiet. */
export function isToRetire(grant: HeldGrant, now: Instant): boolean {
  const isIdle = grant.idleMs > 0 && isQuiet(grant) && elapsedMs(grant.lastUse, now) >= grant.idleMs;
  return isSpent(grant) || isIdle || leftMs(grant, now) <= 0;
}

/** Milliseconds until its time or its month is over, by the clock that comes first. */
export function leftMs(grant: HeldGrant, now: Instant): number {
  return Math.min(grant.ttlMs - elapsedMs(grant.since, now), grant.periodEndMs - now.wallMs);
}
