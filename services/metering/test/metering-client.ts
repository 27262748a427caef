import { randomBytes } from 'node:crypto';
import { AllowanceSigner } from '@brand-data/accounts/src/rpc/allowance-signer.ts';
import {
  type AcquireRequest,
  createHolderIdentity,
  type GrantUsage,
  HOLDER_PROOF_METADATA,
  type HolderIdentity,
  MeteringAdminServiceClient,
  MeteringServiceClient,
  USAGE_SIGNATURE_HEADER,
  UsageEvent,
} from '@brand-data/contracts';
import { callUnary, connectChannel, signingKeyFromPem } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import { allowanceKeys } from '@brand-data/testing/running-service';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import type { RunningMetering } from './running-metering.ts';

const DEADLINE_MS = 5_000;

export type MeteringClient = ReturnType<typeof meteringClient>;

export const newAccount = (): string => `acct-${randomBytes(6).toString('hex')}`;

/** The keys of the holders that tests have made. */
const identities = new Map<string, HolderIdentity>();
/** The holders of the grants that tests were given, by the grants' ids. */
const holders = new Map<string, string>();

export function newHolder(): string {
  const identity = createHolderIdentity();
  identities.set(identity.name, identity);
  return identity.name;
}

function identityOf(holder: string): HolderIdentity {
  const identity = identities.get(holder);
  if (!identity) throw new Error('newHolder makes the names of holders');
  return identity;
}

/** Returns the metadata with which the holder sends a request. */
export function proofOf(holder: string): Record<string, string> {
  return { [HOLDER_PROOF_METADATA]: identityOf(holder).proofAt(Date.now()) };
}

const signer = new AllowanceSigner(signingKeyFromPem(allowanceKeys.signing));

/** Returns the statement about this limit that accounts signs. */
export async function allowanceOf({
  accountId,
  pool,
  limit,
  limitRevision,
}: Pick<AcquireRequest, 'accountId' | 'pool' | 'limit' | 'limitRevision'>): Promise<string> {
  const pools = [{ name: pool, allowance: limit, routes: [] }];
  const plan = { pools, revision: limitRevision };
  return (await signer.sign({ _id: accountId, revision: 0 }, plan, Date.now())).token;
}

/** Returns a usage event as the holder of the first grant publishes it, or another holder. */
export function signedEvent(
  usage: readonly GrantUsage[],
  signer = holders.get(usage[0]?.grantId ?? '') ?? newHolder(),
  holder = signer,
): { payload: Uint8Array; options: { headers: MsgHdrs } } {
  const payload = UsageEvent.encode({ holder, usage: [...usage] }).finish();
  const signed = headers();
  signed.set(USAGE_SIGNATURE_HEADER, identityOf(signer).sign(payload));
  return { payload, options: { headers: signed } };
}

/** A client of a running service, for the requests of gateways and operators. Unless a request names a holder, it is the client's own. */
export function meteringClient(
  { target, adminTarget }: Pick<RunningMetering, 'target' | 'adminTarget'>,
  operatorToken: string,
  { channel = channelAs, deadlineMs = DEADLINE_MS } = {},
) {
  const client = connectChannel(MeteringServiceClient, target, channel('gateway', 'metering'));
  const admin = connectChannel(MeteringAdminServiceClient, adminTarget, channel('bds', 'metering'));
  const own = newHolder();
  let lastSeq = 0;
  /** `given`: the metadata, by default the holder's proof. */
  const acquire = async (
    accountId: string,
    more: Partial<AcquireRequest> = {},
    given?: Record<string, string>,
  ) => {
    lastSeq += 1;
    const seq = more.holder === undefined ? lastSeq : 1;
    const request: AcquireRequest = {
      holder: own,
      seq,
      accountId,
      pool: 'calls',
      limit: 1_000,
      limitRevision: 1,
      want: 20,
      ignoredFromSeq: 0,
      fromMs: 0,
      urgent: false,
      wantSoon: 0,
      waiting: 0,
      usage: [],
      allowance: '',
      ...more,
    };
    const metadata = given ?? proofOf(request.holder);
    request.allowance ||= await allowanceOf(request);
    const answer = await callUnary(client, client.acquire, request, { deadlineMs, metadata });
    if (answer.outcome?.$case === 'grant') holders.set(answer.outcome.value.id, request.holder);
    return answer;
  };
  const reportAs = (holder: string, ...usage: GrantUsage[]) =>
    callUnary(client, client.report, { holder, usage }, { deadlineMs, metadata: proofOf(holder) });
  const usageOf = async (accountId: string, token: { operatorToken: string | undefined }) => {
    const request = { accountId, month: '' };
    return (await callUnary(admin, admin.getUsage, request, { deadlineMs, ...token })).usage;
  };
  return {
    acquire,
    /** Throws if the answer is not a grant. */
    grantFor: async (accountId: string, more?: Partial<AcquireRequest>) => {
      const { outcome } = await acquire(accountId, more);
      if (outcome?.$case !== 'grant') throw new Error(`expected a grant, got ${outcome?.$case}`);
      return outcome.value;
    },
    /** Reports in the name of the holder of the first grant. */
    report: (...usage: GrantUsage[]) => reportAs(holders.get(usage[0]?.grantId ?? '') ?? own, ...usage),
    /** Reports in the name of this holder. */
    reportAs,
    /** Reads the account's usage as a gateway does. */
    readUsage: (accountId: string, allowance: string) =>
      callUnary(client, client.readUsage, { accountId, month: '', allowance }, { deadlineMs }),
    /** The account's only pool. `token`: the operator credential. Absent: the right one. */
    poolOf: async (accountId: string, token: { operatorToken: string | undefined } = { operatorToken }) => {
      const [pool] = (await usageOf(accountId, token))?.pools ?? [];
      if (!pool) throw new Error('the account has no pool yet');
      return pool;
    },
    /** Whether metering says that the account's usage of this month has all calls. */
    isComplete: async (accountId: string) => (await usageOf(accountId, { operatorToken }))?.complete === true,
    close: () => {
      client.close();
      admin.close();
    },
  };
}
