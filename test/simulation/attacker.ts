import { type Grant, type GrantUsage, monthOf, Route } from '@brand-data/contracts';
import { parseGrantId } from '@brand-data/metering/src/ledger/ledger.ts';
import type { JetStream } from './jetstream.ts';
import type { MeteringReplica } from './metering-replica.ts';
import type { PlannedAttack } from './plan.ts';
import { signAllowance } from './signed-allowances.ts';

/** The attacker's own name as a holder. */
export const ATTACKER = 'attacker'.padEnd(43, '-');
/** The allowance of the attacker's own account. */
const OWN_LIMIT = 10;
const WRONG_SECRET = 'guessed-guessed-guesse';
const NEVER_GIVEN = `1000000.${WRONG_SECRET}`;

interface Target {
  holder: string;
  accountId: string;
  /** What accounts has signed about the account: the attacker has seen its token. */
  allowance: string;
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
  /** Gets a grant of an account of its own, and reports more usage than the grant has permits, on both ways. */
  const overReport = async (): Promise<void> => {
    const limits = new Map([[pool, OWN_LIMIT]]);
    const signed = { accountId: ATTACKER, limitRevision: 1, limits, untilMs: Number.MAX_SAFE_INTEGER };
    const seq = Math.floor(planned.atMs) + 1;
    const own = { ...request, holder: ATTACKER, seq, accountId: ATTACKER, ignoredFromSeq: 0, usage: [] };
    const { outcome } = await metering.acquire({ ...own, allowance: signAllowance(signed) }, ATTACKER);
    if (outcome?.$case !== 'grant') return;
    const usage = { ...planned.usage, as: 'used', share: 2 } as const;
    const over = [
      usageOf({ ...planned, kind: 'report', guesses: false, usage }, { grant: outcome.value, wallMs }),
    ];
    jetStream?.put({ holder: ATTACKER, usage: over }, ATTACKER);
    await metering.report(over, ATTACKER);
  };
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
    case 'over-report':
      process.reach(() => void overReport().catch(ignored));
      return;
    case 'acquire':
      acquire({ ...request, allowance: target.allowance });
  }
}

function usageOf(
  { kind, usage, guesses }: PlannedAttack,
  { grant, wallMs }: Pick<Target, 'grant' | 'wallMs'>,
): GrantUsage {
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
