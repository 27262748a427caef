import { randomBytes } from 'node:crypto';
import {
  type AcquireRequest,
  type AcquireResponse,
  type Grant,
  type GrantUsage,
  MeteringAdminServiceClient,
  MeteringServiceClient,
  type PoolUsage,
  type ReportResponse,
} from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import type { RunningMetering } from './running-metering.ts';

const DEADLINE_MS = 5_000;

/** A client of a running service, for the requests of gateways and operators. */
export interface MeteringClient {
  acquire(accountId: string, more?: Partial<AcquireRequest>): Promise<AcquireResponse>;
  /** Throws if the answer is not a grant. */
  grantFor(accountId: string, more?: Partial<AcquireRequest>): Promise<Grant>;
  report(...usage: GrantUsage[]): Promise<ReportResponse>;
  /** The account's only pool. `token`: the operator credential. Absent: the right one. */
  poolOf(accountId: string, token?: { operatorToken: string | undefined }): Promise<PoolUsage>;
  close(): void;
}

export const newAccount = (): string => `acct-${randomBytes(6).toString('hex')}`;
export const newHolder = (): string => `gateway-${randomBytes(6).toString('hex')}`;

export function meteringClient(
  { target, adminTarget }: RunningMetering,
  operatorToken: string,
): MeteringClient {
  const client = connectChannel(MeteringServiceClient, target);
  const admin = connectChannel(MeteringAdminServiceClient, adminTarget);
  const acquire: MeteringClient['acquire'] = (accountId, more = {}) => {
    const request: AcquireRequest = {
      ...{ holder: newHolder(), seq: 1, accountId, pool: 'calls', limit: 1_000, limitRevision: 1, want: 20 },
      ...{
        ignoredFromSeq: 0,
        fromMs: 0,
        urgent: false,
        wantSoon: 0,
        waiting: 0,
        usage: [],
        readsStale: true,
      },
      ...more,
    };
    return callUnary(client, client.acquire, request, { deadlineMs: DEADLINE_MS });
  };
  return {
    acquire,
    grantFor: async (accountId, more) => {
      const { outcome } = await acquire(accountId, more);
      if (outcome?.$case !== 'grant') throw new Error(`expected a grant, got ${outcome?.$case}`);
      return outcome.value;
    },
    report: (...usage) =>
      callUnary(client, client.report, { holder: 'any', usage }, { deadlineMs: DEADLINE_MS }),
    poolOf: async (accountId, token = { operatorToken }) => {
      const request = { accountId, month: '' };
      const { usage } = await callUnary(admin, admin.getUsage, request, {
        deadlineMs: DEADLINE_MS,
        ...token,
      });
      const [pool] = usage?.pools ?? [];
      if (!pool) throw new Error('the account has no pool yet');
      return pool;
    },
    close: () => {
      client.close();
      admin.close();
    },
  };
}
