import { createHash, timingSafeEqual } from 'node:crypto';
import { type Metadata, ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';
import { Counter } from 'prom-client';
import { parseSecrets } from './config.ts';
import type { Service } from './service.ts';

const REASONS = ['missing', 'unknown'] as const;
type RefusalReason = (typeof REASONS)[number];

const DETAILS: Record<RefusalReason, string> = {
  missing: 'this port needs the operator credential: authorization: Bearer <operator token>',
  unknown: 'the operator credential is not one that this service accepts',
};

/**
 * Refuses every call, except health checks, that does not send `authorization: Bearer <token>` with one of the tokens. It counts
 * refused calls, and logs each with the caller's address. If the setting OPERATOR_TOKEN is in a file, a change of the file changes
 * the tokens.
 */
export function requireOperator(
  { log, metrics, onSettingChange }: Pick<Service, 'log' | 'metrics' | 'onSettingChange'>,
  tokens: readonly string[],
): ServerInterceptor {
  const refusals = new Counter({
    name: 'grpc_operator_refusals_total',
    help: 'Calls to the admin port that were refused because of their operator credential, by reason',
    labelNames: ['reason'],
    registers: [metrics],
  });
  // These series start at zero. Without them Prometheus would not see the first refusal as an increase.
  for (const reason of REASONS) refusals.inc({ reason }, 0);
  let expected = tokens.map(digest);
  onSettingChange('OPERATOR_TOKEN', (text) => {
    expected = parseSecrets(text).map(digest);
  });

  return (method, call) => {
    if (method.path.startsWith('/grpc.health.')) return new ServerInterceptingCall(call);
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, proceed) => {
            const reason = refusalOf(metadata, expected);
            if (reason === undefined) return proceed(metadata);
            refusals.inc({ reason });
            log.warn({ method: method.path, from: call.getPeer(), reason }, 'an operator was refused');
            call.sendStatus({ code: status.UNAUTHENTICATED, details: DETAILS[reason] });
          },
        }),
    });
  };
}

function refusalOf(metadata: Metadata, expected: readonly Buffer[]): RefusalReason | undefined {
  const [, given] = /^Bearer (.+)$/.exec(String(metadata.get('authorization')[0])) ?? [];
  if (given === undefined) return 'missing';
  const found = digest(given);
  // Compares with all, so that the time does not show which one is right.
  return expected.filter((each) => timingSafeEqual(each, found)).length > 0 ? undefined : 'unknown';
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
