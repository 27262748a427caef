import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import { VERSION } from '../base/version.ts';
import { operatorCallOf } from '../grpc/operator.ts';
import { unary } from '../grpc/server.ts';
import type { Service } from '../service/service.ts';

/** The states as proto/brand_data/v1/diagnosis.proto has them. */
const STATE = {
  ok: 'FINDING_STATE_OK',
  warning: 'FINDING_STATE_WARNING',
  wrong: 'FINDING_STATE_WRONG',
} as const;

/** Returns the handlers of DiagnosisAdminService, for an admin port. */
export function diagnosisService(service: Service): UntypedServiceImplementation {
  const { version = VERSION, revision = '' } = service.build ?? {};
  return {
    diagnose: unary(service, async (_request: object, metadata) => {
      const { operator } = operatorCallOf(metadata);
      const findings = await (service.diagnosis?.run() ?? []);
      return {
        version,
        revision,
        nowMs: Date.now(),
        operator: operator.name,
        role: operator.role,
        findings: findings.map(({ what, found }) => {
          const advice = found.state === 'ok' ? '' : found.advice;
          return { what, state: STATE[found.state], detail: found.detail, advice };
        }),
      };
    }),
  };
}
