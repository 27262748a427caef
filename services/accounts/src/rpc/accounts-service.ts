import {
  type AccountsServiceServer,
  TokenRefusal,
  tokenCheckKeyFrom,
  type VerifyTokenResponse,
} from '@brand-data/contracts';
import { type Service, unary } from '@brand-data/runtime';
import { blockedToProto } from '../model/block.ts';
import { hashToken, requireTokenSha256 } from '../model/key.ts';
import { limitRevisionOf, planToProto, routesOfPlan } from '../model/plan.ts';
import type { FoundKey } from '../storage/key-store.ts';
import type { Store } from '../storage/store.ts';
import type { AllowanceSigner } from './allowance-signer.ts';

/**
 * Returns the gRPC service that tells gateways which calls to refuse. See proto/brand_data/v1/accounts.proto for messages and
 * errors.
 */
export function accountsService(
  service: Service,
  { keys, blocks, plans }: Pick<Store, 'keys' | 'blocks' | 'plans'>,
  { tokenHashKey, signer }: { tokenHashKey: string; signer: AllowanceSigner },
): AccountsServiceServer {
  const tokenCheckKeys = [Buffer.from(tokenCheckKeyFrom(tokenHashKey).bytes)];
  return {
    verifyToken: unary(service, async ({ tokenSha256 }) => {
      const found = await keys.find(hashToken(tokenHashKey, requireTokenSha256(tokenSha256)));
      return { outcome: await outcomeOf(found, signer, Date.now()), tokenCheckKeys };
    }),

    listBlockedNetworks: unary(service, async () => ({
      networks: (await blocks.list(new Date())).map(blockedToProto),
    })),

    listPublicPlans: unary(service, async () => ({
      plans: (await plans.list()).filter((plan) => plan.public).map(planToProto),
    })),
  };
}

async function outcomeOf(
  found: FoundKey | undefined,
  signer: AllowanceSigner,
  nowMs: number,
): Promise<VerifyTokenResponse['outcome']> {
  const refuse = (value: TokenRefusal) => ({ $case: 'refusal' as const, value });
  if (!found) return refuse(TokenRefusal.UNKNOWN);
  const { account, plan, ...key } = found;
  if (account.closedAt) return refuse(TokenRefusal.ACCOUNT_CLOSED);
  if (key.revokedAt) return refuse(TokenRefusal.REVOKED);
  const expiresAtMs = key.expiresAt?.getTime();
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return refuse(TokenRefusal.EXPIRED);
  const { token, untilMs } = await signer.sign(account, plan, nowMs);
  return {
    $case: 'credential',
    value: {
      keyId: key._id,
      accountId: account._id,
      plan: plan._id,
      allowedOrigins: key.allowedOrigins,
      expiresAtMs,
      routes: routesOfPlan(plan),
      limitRevision: limitRevisionOf(account, plan),
      allowance: token,
      allowanceUntilMs: untilMs,
      accountLimits: plan.limits,
      keyLimits: key.limits,
    },
  };
}
