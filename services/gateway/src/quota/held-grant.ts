import { type Grant, type GrantUsage, markOfGrant, type UsageCell } from '@brand-data/contracts';
import { elapsedMs, type Fault, type Instant } from '@brand-data/runtime';

/** A cell of a grant's breakdown. */
interface HeldCell extends UsageCell {
  /** Whether its current count may not be durable yet. */
  isUnsure: boolean;
}

/** A grant that this gateway holds. */
export interface HeldGrant extends Readonly<Omit<Grant, 'remaining' | 'used'>> {
  /** Names the grant in metering's news. */
  readonly mark: string;
  /** Account and pool of the grant's holding. */
  readonly accountId: string;
  readonly pool: string;
  /** When the gateway first sent the grant's Acquire. The grant's lifetime starts at this moment. */
  readonly since: Instant;
  /** Permits of admitted calls that have no outcome yet. */
  reserved: number;
  used: number;
  /** The part of `used` that the holding's `used` contains. */
  counted: number;
  /** Used permits whose commit has neither succeeded nor failed yet. */
  unsettled: number;
  /** Permits that the gateway has returned while the grant is open. */
  returned: number;
  readonly lastUse: Instant;
  /** Whether the gateway has stopped admitting calls with the grant. */
  retired: boolean;
  /** Whether the grant is retired and none of its calls is under way, so that its usage is final. */
  closed: boolean;
  /** When the stream acknowledged the close. */
  storedAt: Instant | undefined;
  /** Whether metering has settled the grant without this gateway, so that metering refuses its further usage. */
  refused: boolean;
  /** The breakdown of the used permits. Most calls share a cell, so a list takes less memory than a map. */
  cells: HeldCell[];
  /** The cell of the last used permit. Most calls count in the same cell as the call before. */
  lastCell: HeldCell | undefined;
  /** How many cells are unsure. */
  unsureCells: number;
  /** Whether the journal still has to send the current usage. */
  isUnsent: boolean;
  /** The calls that wait until the usage that the journal sends next is durable. */
  waiting: Waiting | undefined;
  /** Used and returned permits that metering has confirmed to have stored. The stream may have more. */
  reported: number;
  /** Freed permits (`freedOf`) that metering has confirmed to have stored. */
  reportedFreed: number;
}

/** Calls of one grant that wait for the same batch of usage. They share a promise. */
export interface Waiting {
  calls: number;
  readonly durable: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (fault: Fault) => void;
}

/** A grant's usage as one message contains it. */
export interface UsageSnapshot {
  readonly usage: GrantUsage;
  /** Used and returned permits (`progressOf`). */
  readonly progress: number;
  /** Permits that other gateways may get once metering has applied this usage (`freedOf`). */
  readonly freed: number;
  /** The grant's own cells, of which `usage.cells` are copies. */
  readonly cells: readonly HeldCell[];
}

/** If a breakdown has at most this many cells, each message contains all of them. */
const CELLS_ALWAYS_REPORTED = 8;

export function newHeldGrant(
  { id, size, ttlMs, idleMs, periodStartMs, periodEndMs }: Grant,
  { accountId, pool }: { accountId: string; pool: string },
  since: Instant,
  now: Instant,
): HeldGrant {
  return {
    id,
    mark: markOfGrant(id),
    accountId,
    pool,
    size,
    ttlMs,
    idleMs,
    periodStartMs,
    periodEndMs,
    since,
    reserved: 0,
    used: 0,
    counted: 0,
    unsettled: 0,
    returned: 0,
    lastUse: { ...now },
    reported: 0,
    reportedFreed: 0,
    retired: false,
    closed: false,
    storedAt: undefined,
    refused: false,
    cells: [],
    lastCell: undefined,
    unsureCells: 0,
    isUnsent: false,
    waiting: undefined,
  };
}

/** Turns a reserved permit into a used one, for a call that was admitted on `day` (YYYY-MM-DD). */
export function useOne(grant: HeldGrant, of: Omit<UsageCell, 'count'>): void {
  grant.reserved -= 1;
  grant.used += 1;
  grant.unsettled += 1;
  const { lastCell } = grant;
  const cell = lastCell && isCellOf(lastCell, of) ? lastCell : cellOf(grant, of);
  cell.count += 1;
  grant.lastCell = cell;
  if (cell.isUnsure) return;
  cell.isUnsure = true;
  grant.unsureCells += 1;
}

function isCellOf(cell: UsageCell, { keyId, route, status, day }: Omit<UsageCell, 'count'>): boolean {
  return cell.keyId === keyId && cell.route === route && cell.status === status && cell.day === day;
}

function cellOf(grant: HeldGrant, of: Omit<UsageCell, 'count'>): HeldCell {
  const known = grant.cells.find((cell) => isCellOf(cell, of));
  if (known) return known;
  const cell = { ...of, count: 0, isUnsure: false };
  // Most grants have one cell, and `push` would give the list room for 17 more.
  if (grant.cells.length === 0) grant.cells = [cell];
  else grant.cells.push(cell);
  return cell;
}

/** Returns a grant's usage so far, which is cumulative. Unless it closes the grant, a large breakdown has only the unsure cells. */
export function snapshotOf(grant: HeldGrant): UsageSnapshot {
  const { id, used, returned, closed } = grant;
  const partial = cellsToReport(grant) < grant.cells.length;
  const cells = grant.cells.filter(({ isUnsure }) => isUnsure || !partial);
  return {
    usage: { grantId: id, used, returned, closed, cells: cells.map(usageCellOf), partial },
    progress: progressOf(grant),
    freed: freedOf(grant),
    cells,
  };
}

function usageCellOf({ keyId, route, status, day, count }: HeldCell): UsageCell {
  return { keyId, route, status, day, count };
}

export function cellsToReport({ closed, cells, unsureCells }: HeldGrant): number {
  return closed || cells.length <= CELLS_ALWAYS_REPORTED ? cells.length : unsureCells;
}

/** Notes that the snapshot is durable: cells that have not changed since need not be sent again. */
export function markDurable(grant: HeldGrant, { usage, cells }: UsageSnapshot): void {
  cells.forEach((cell, index) => {
    if (!cell.isUnsure || cell.count !== usage.cells[index]?.count) return;
    cell.isUnsure = false;
    grant.unsureCells -= 1;
  });
}

/** Used and returned permits. This number only grows. */
export function progressOf({ used, returned }: HeldGrant): number {
  return used + returned;
}

/** Used permits that the holding's `used` does not contain. If metering has refused the grant's usage, they are not billed. */
export function uncountedOf({ used, counted, refused }: HeldGrant): number {
  return refused ? 0 : used - counted;
}

/** Permits that no call of this gateway can take any more, so that other gateways may get them. */
export function freedOf({ closed, size, used, returned }: HeldGrant): number {
  return closed ? size - used : returned;
}

/** Permits that a call can take now. */
export function freeOf(grant: HeldGrant): number {
  return grant.retired ? 0 : grant.size - grant.returned - grant.used - grant.reserved;
}

export function freeOfAll(grants: readonly HeldGrant[]): number {
  return grants.reduce((sum, grant) => sum + freeOf(grant), 0);
}

/** Whether none of the grant's calls is under way or waits for its commit. */
export function isQuiet(grant: HeldGrant): boolean {
  return grant.reserved === 0 && grant.unsettled === 0;
}

export function isSpent(grant: HeldGrant): boolean {
  return grant.used + grant.returned >= grant.size;
}

/** Whether the grant should admit no further call because it is spent, idle or expired. */
export function isToRetire(grant: HeldGrant, now: Instant): boolean {
  const isIdle = grant.idleMs > 0 && isQuiet(grant) && elapsedMs(grant.lastUse, now) >= grant.idleMs;
  return isSpent(grant) || isIdle || leftMs(grant, now) <= 0;
}

/** Milliseconds until the grant's lifetime or its month ends, whichever is first. */
export function leftMs(grant: HeldGrant, now: Instant): number {
  return Math.min(grant.ttlMs - elapsedMs(grant.since, now), grant.periodEndMs - now.wallMs);
}
