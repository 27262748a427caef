import type { KeyObject } from 'node:crypto';
import type { AccountsAdminServiceServer } from '@brand-data/contracts';
import { endOfPage, refuseRestore, type Service, unary } from '@brand-data/runtime';
import type { Outbox } from '../storage/outbox.ts';
import type { Store } from '../storage/store.ts';
import { auditToProto, requirePage } from '../trail/audit.ts';
import { accountCalls } from './account-calls.ts';
import type { AllowanceSigner } from './allowance-signer.ts';
import { blockCalls } from './block-calls.ts';
import { keyCalls } from './key-calls.ts';
import { operatorCalls } from './operator-calls.ts';

/**
 * Returns the gRPC service for operators. See proto/brand_data/v1/accounts.proto for messages and errors. It answers a change
 * only after JetStream has acknowledged the change's notice to the gateways. If that takes too long, the answer is Fault
 * `unavailable`, but the change remains.
 */
export function accountsAdminService(
  service: Service,
  parts: {
    store: Store;
    outbox: Outbox;
    tokenHashKey: string;
    signer: AllowanceSigner;
    signingKey: () => KeyObject | undefined;
    trustedProxies: readonly string[];
  },
): AccountsAdminServiceServer {
  return {
    ...accountCalls(service, parts),
    ...keyCalls(service, parts),
    ...blockCalls(service, parts),
    ...operatorCalls(service, parts),

    listAudit: unary(service, async (request) => {
      const page = requirePage(request);
      const docs = await parts.store.trail.list(page);
      const last = docs.length < page.limit ? undefined : docs.at(-1);
      return { entries: docs.map(auditToProto), next: last ? endOfPage(last) : '' };
    }),

    finishRestore: unary(service, refuseRestore),
  };
}
