import { type Grant, type GrantUsage, monthOf, Route } from '@brand-data/contracts';
import { parseGrantId } from '@brand-data/metering/src/ledger/ledger.ts';
import type { JetStream } from './jetstream.ts';
import type { MeteringReplica } from './metering-replica.ts';
import type { PlannedAttack } from './plan.ts';

/** The attacker's own name as a holder. */
export const ATTACKER = 'attacker'.padEnd(43, '-');
const WRONG_SECRET = 'guessed-guessed-guesse';
const NEVER_GIVEN = `1000000.${WRONG_SECRET}`;

interface Target {
  holder: string;
  accountId: string;
  grant: Grant;
  pool: string;
  replica: MeteringReplica;
  jetStream: JetStream | undefined;
  wallMs: number;
}

/** Carries out the planned attacks. The attacker reaches metering and the streams at any time, without losses. */
export function attack(planned: PlannedAttack, target: Target): void {
  const { holder, accountId, pool, wallMs, jetStream } = target;
  const { process, metering } = target.replica;
  const usage = [usageOf(planned, target)];
  const ignored = () => {};
  const request = {
    holder,
    seq: 1_000_000,
    accountId,
    pool,
    limit: 0,
    limitRevision: 0,
    want: 1,
    ignoredFromSeq: 1,
    usage,
    fromMs: wallMs,
    urgent: false,
    wantSoon: 0,
    waiting: 0,
    allowance: '',
  };
  const acquire = (asked: typeof request) =>
    process.reach(() => void metering.acquire(asked, ATTACKER).catch(ignored));
  switch (planned.kind) {
    case 'event':
    case 'unknown':
      jetStream?.put({ holder: ATTACKER, usage }, ATTACKER);
      return;
    case 'forge':
      jetStream?.put({ holder, usage }, ATTACKER);
      return;
    case 'report':
      process.reach(() => void metering.report(usage, ATTACKER).catch(ignored));
      return;
    case 'limit':
      acquire({
        ...request,
        holder: ATTACKER,
        seq: Math.floor(planned.atMs) + 1,
        limitRevision: Number.MAX_SAFE_INTEGER,
        ignoredFromSeq: 0,
        usage: [],
        allowance: planned.guesses ? `attacker ${accountId}` : '',
      });
      return;
    case 'acquire':
      acquire(request);
  }
}

function usageOf({ kind, usage, guesses }: PlannedAttack, { grant, wallMs }: Target): GrantUsage {
  const permits = Math.floor(grant.size * usage.share);
  const used = usage.as === 'used' ? permits : 0;
  const day = `${monthOf(wallMs)}-01`;
  const secret = parseGrantId(grant.id)?.secret;
  const grantId = kind === 'unknown' ? grant.id.replace(/[^/]+$/, NEVER_GIVEN) : grant.id;
  return {
    grantId: guesses && secret !== undefined ? grantId.replace(secret, WRONG_SECRET) : grantId,
    used,
    returned: permits - used,
    closed: usage.closed,
    partial: false,
    cells: used === 0 ? [] : [{ keyId: 'key-x', route: Route.BRANDS, status: 200, day, count: used }],
  };
}
