import { type FinishRestoreRequest, type FinishRestoreResponse, GRPC_SERVICES } from '@brand-data/contracts';
import {
  type BackendPorts,
  endRestore,
  installationOr,
  type Mongo,
  operatorCallOf,
  type Service,
  unary,
  untilRestored,
} from '@brand-data/runtime';
import { Binary } from 'mongodb';
import { storedOperators } from '../model/operator.ts';
import { collectionsOf } from '../storage/collections.ts';
import { finishRestore } from './finish-restore.ts';

/** Resolves when accounts' database is not being restored. Until then its admin port answers FinishRestore alone. */
export function untilAccountsRestored(
  service: Service,
  mongo: Mongo,
  ports: BackendPorts,
  { OPERATOR_TOKEN, AUDIT_DAYS }: { OPERATOR_TOKEN: readonly string[]; AUDIT_DAYS: number },
): Promise<void> {
  const { db } = mongo;
  const { operators } = collectionsOf(db);
  const findOperator = async (hash: Buffer) =>
    (await operators.findOne({ hash: new Binary(hash) })) ?? undefined;
  const handlers = {
    finishRestore: unary<FinishRestoreRequest, FinishRestoreResponse>(service, (request, metadata) =>
      endRestore(db, request.restoreId, () =>
        finishRestore(db, request, { by: operatorCallOf(metadata), auditDays: AUDIT_DAYS }),
      ),
    ),
  };
  return untilRestored(service, mongo, {
    ...ports.adminPort(installationOr(service, OPERATOR_TOKEN, storedOperators({ findOperator }))),
    services: [{ ...GRPC_SERVICES.AccountsAdminService, handlers }],
  });
}
