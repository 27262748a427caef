import { type Grant, type GrantUsage, monthOf, Route } from '@brand-data/contracts';
import { parseGrantId } from '@brand-data/metering/src/ledger/ledger.ts';
import type { JetStream } from './jetstream.ts';
import type { MeteringReplica } from './metering-replica.ts';
import type { PlannedAttack } from './plan.ts';

/** The attacker's own name as a holder. */
export const ATTACKER = 'attacker'.padEnd(43, '-');
const WRONG_SECRET = 'guessed-guessed-guesse';

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
  const { holder, replica, jetStream } = target;
  const usage = [usageOf(planned, target)];
  const { process, metering } = replica;
  const ignored = () => {};
  switch (planned.kind) {
    case 'event':
      jetStream?.put({ holder: ATTACKER, usage }, ATTACKER);
      return;
    case 'forge':
      jetStream?.put({ holder, usage }, ATTACKER);
      return;
    case 'report':
      process.reach(() => void metering.report(usage, ATTACKER).catch(ignored));
      return;
    case 'limit': {
      const { accountId, pool, wallMs } = target;
      const poison = { limit: 0, limitRevision: Number.MAX_SAFE_INTEGER };
      const request = {
        holder: ATTACKER,
        seq: Math.floor(planned.atMs) + 1,
        accountId,
        pool,
        ...poison,
        want: 1,
        ignoredFromSeq: 0,
        usage: [],
        fromMs: wallMs,
        urgent: false,
        wantSoon: 0,
        waiting: 0,
        allowance: planned.guesses ? `attacker ${accountId}` : '',
      };
      process.reach(() => void metering.acquire(request, ATTACKER).catch(ignored));
      return;
    }
    case 'acquire': {
      const { accountId, pool, wallMs } = target;
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
      process.reach(() => void metering.acquire(request, ATTACKER).catch(ignored));
    }
  }
}

function usageOf(
  { usage: { as, share, closed }, guesses }: PlannedAttack,
  { grant, wallMs }: Target,
): GrantUsage {
  const permits = Math.floor(grant.size * share);
  const used = as === 'used' ? permits : 0;
  const day = `${monthOf(wallMs)}-01`;
  return {
    grantId: guesses ? guessed(grant.id) : grant.id,
    used,
    returned: permits - used,
    closed,
    partial: false,
    cells: used === 0 ? [] : [{ keyId: 'key-x', route: Route.BRANDS, status: 200, day, count: used }],
  };
}

function guessed(id: string): string {
  const secret = parseGrantId(id)?.secret;
  return secret === undefined ? id : id.replace(secret, WRONG_SECRET);
}
