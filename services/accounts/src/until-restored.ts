import {
  type FinishRestoreRequest,
  type FinishRestoreResponse,
  GRPC_SERVICES,
  OPERATOR_RULES,
} from '@brand-data/contracts';
import {
  endRestore,
  type GrpcServer,
  installationOr,
  type Mongo,
  operatorCallOf,
  type Service,
  unary,
  untilRestored,
} from '@brand-data/runtime';
import { Binary } from 'mongodb';
import { finishRestore } from './finish-restore.ts';
import { type OperatorDoc, storedOperators } from './operator.ts';

/** Resolves when accounts' database is not being restored. Until then its admin port answers FinishRestore alone. */
export function untilAccountsRestored(
  service: Service,
  mongo: Mongo,
  port: Pick<GrpcServer, 'transport' | 'host' | 'port'>,
  { operatorTokens, auditDays }: { operatorTokens: readonly string[]; auditDays: number },
): Promise<void> {
  const { db } = mongo;
  const operators = db.collection<OperatorDoc>('operators');
  const findOperator = async (hash: Buffer) =>
    (await operators.findOne({ hash: new Binary(hash) })) ?? undefined;
  const handlers = {
    finishRestore: unary<FinishRestoreRequest, FinishRestoreResponse>(service, (request, metadata) =>
      endRestore(db, request.restoreId, () =>
        finishRestore(db, request, { by: operatorCallOf(metadata), auditDays }),
      ),
    ),
  };
  return untilRestored(service, mongo, {
    ...port,
    services: [{ ...GRPC_SERVICES.AccountsAdminService, handlers }],
    operators: {
      ...OPERATOR_RULES,
      authenticate: installationOr(service, operatorTokens, storedOperators({ findOperator })),
    },
  });
}
