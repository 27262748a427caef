import type { KeyObject } from 'node:crypto';
import {
  type AccountsAdminServiceServer,
  createOperatorCredential,
  PASS_SERVICES,
} from '@brand-data/contracts';
import { Fault, operatorCallOf, type Service, signPass, unary } from '@brand-data/runtime';
import { Binary } from 'mongodb';
import {
  createCredentialId,
  hashCredential,
  operatorToProto,
  requireOperatorName,
  requireRole,
} from '../model/operator.ts';
import type { Store } from '../storage/store.ts';

/** Returns the calls about operators' credentials and passes. */
export function operatorCalls(
  service: Service,
  { store: { operators }, signingKey }: { store: Store; signingKey: () => KeyObject | undefined },
) {
  return {
    createOperator: unary(service, async ({ name, role }, metadata) => {
      const by = operatorCallOf(metadata);
      const credential = createOperatorCredential();
      const operator = {
        _id: createCredentialId(),
        name: requireOperatorName(name),
        role: requireRole(role),
        hash: new Binary(hashCredential(credential)),
        createdAt: new Date(),
        createdBy: by.operator.name,
      };
      return { operator: operatorToProto(await operators.create(operator, by)), credential };
    }),

    listOperators: unary(service, async () => {
      const listed = await operators.list();
      return { operators: listed.map(operatorToProto) };
    }),

    revokeOperator: unary(service, async ({ name, credentialId }, metadata) => {
      const revoked = await operators.revoke(name, credentialId, new Date(), operatorCallOf(metadata));
      return { operators: revoked.map(operatorToProto) };
    }),

    issuePass: unary(service, async (request, metadata) => {
      const found = PASS_SERVICES.find((name) => name === request.service);
      if (found === undefined)
        throw new Fault('invalid_argument', `passes are for ${PASS_SERVICES.join(', ')}`);
      const key = signingKey();
      if (key === undefined)
        throw new Fault(
          'failed_precondition',
          'accounts has no PASS_SIGNING_KEY, so named operators can use only accounts',
        );
      const { operator, from, requestId } = operatorCallOf(metadata);
      const issued = await signPass(key, operator, found, Date.now());
      service.log.info({ pass: { for: found, ...operator, from, requestId } }, 'an operator got a pass');
      return issued;
    }),
  } satisfies Partial<AccountsAdminServiceServer>;
}
