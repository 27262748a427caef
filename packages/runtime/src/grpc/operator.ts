import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { parseSecrets } from '../config/config.ts';
import { countBy } from '../observe/metrics.ts';
import type { Service } from '../service/service.ts';
import { grpcStatusOf } from './status.ts';

/** Who makes a call on an admin port. */
export interface Operator {
  name: string;
  role: string;
  /** Empty for the installation's own operator token. */
  credentialId: string;
}

/** An operator's call besides its request. */
export interface OperatorCall {
  operator: Operator;
  /** Address and port that the call came from. */
  from: string;
  /** Given by the caller, so it identifies calls but proves nothing. */
  requestId: string;
}

/** Whom an admin port lets in. */
export interface Operators {
  /** Says whose credential the text is, or why it is refused. May reject with a Fault. */
  authenticate(credential: string): Promise<Operator | keyof typeof UNAUTHENTICATED>;
  /** The role that each method of the port needs, by the method's path. */
  roleNeeded: ReadonlyMap<string, string>;
  mayCall(role: string, needed: string): boolean;
}

const UNAUTHENTICATED = {
  missing: "this port needs an operator's credential: authorization: Bearer <credential>",
  unknown: 'the operator credential is not one that this service accepts',
  revoked: 'the operator credential was revoked',
  expired: "the operator's pass has expired: get another from accounts",
};
/** Why an operator was refused. `role`: the operator is known, and has a role that does not include the method. */
const REASONS = [...Object.keys(UNAUTHENTICATED), 'role'];

const REQUEST_ID = /^[\w.:-]{1,64}$/;

/** The calls that were let in, by the metadata that their handlers get. */
const calls = new WeakMap<object, OperatorCall>();

/** Who makes this call. Throws if the port does not ask for operators' credentials. */
export function operatorCallOf(metadata: object): OperatorCall {
  const call = calls.get(metadata);
  if (call === undefined) throw new Error('the port of this method does not ask for operators');
  return call;
}

/**
 * Refuses every call, except health checks, that does not send `authorization: Bearer <credential>` of an operator whose role
 * includes the method. It counts refused calls, and logs each with the caller's address.
 */
export function requireOperator(
  { log, metrics }: Pick<Service, 'log' | 'metrics'>,
  operators: Operators,
): ServerInterceptor {
  const countRefusal = countBy(metrics, {
    name: 'grpc_operator_refusals_total',
    help: 'Calls to the admin port that were refused because of their operator credential, by reason',
    label: 'reason',
    values: REASONS,
  });
  /** Resolves to the status of a refusal, or to undefined if the call is let in. */
  const refusalOf = async (path: string, call: ServerInterceptingCallInterface, metadata: Metadata) => {
    const from = call.getPeer();
    const refuse = (reason: string, operator: string | undefined, details: string) => {
      countRefusal(reason);
      log.warn({ method: path, from, reason, operator }, 'an operator was refused');
      const code = reason === 'role' ? status.PERMISSION_DENIED : status.UNAUTHENTICATED;
      return { code, details };
    };
    const [, credential] = /^Bearer (.+)$/.exec(String(metadata.get('authorization')[0])) ?? [];
    const operator = credential === undefined ? 'missing' : await operators.authenticate(credential);
    if (typeof operator === 'string') return refuse(operator, undefined, UNAUTHENTICATED[operator]);
    const needed = operators.roleNeeded.get(path);
    const { name, role } = operator;
    if (needed === undefined) return { code: status.UNIMPLEMENTED, details: 'there is no such method' };
    if (!operators.mayCall(role, needed))
      return refuse('role', name, `this needs the role ${needed}; ${name} has ${role}`);
    const given = String(metadata.get('x-request-id')[0]);
    calls.set(metadata, { operator, from, requestId: REQUEST_ID.test(given) ? given : randomUUID() });
    return undefined;
  };

  return ({ path }, call) => {
    if (path.startsWith('/grpc.health.')) return new ServerInterceptingCall(call);
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, proceed) => {
            refusalOf(path, call, metadata).then(
              (refusal) => (refusal === undefined ? proceed(metadata) : call.sendStatus(refusal)),
              (error: unknown) => {
                log.error({ err: error, method: path }, 'an operator could not be identified');
                call.sendStatus(grpcStatusOf(error));
              },
            );
          },
        }),
    });
  };
}

/** The operator that the installation's own token stands for. */
export const INSTALLATION: Operator = { name: 'installation', role: 'all', credentialId: '' };

/**
 * Authenticates the installation's operator tokens, and asks `otherwise` about every other credential. If the setting
 * OPERATOR_TOKEN is in a file, a change of the file changes the tokens.
 */
export function installationOr(
  { onSettingChange }: Pick<Service, 'onSettingChange'>,
  tokens: readonly string[],
  otherwise: Operators['authenticate'],
): Operators['authenticate'] {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  let expected = tokens.map(digest);
  onSettingChange('OPERATOR_TOKEN', (text) => {
    expected = parseSecrets(text).map(digest);
  });
  return async (credential) => {
    const given = digest(credential);
    // Compares with all, so that the time does not show which one is right.
    const isInstallation = expected.filter((each) => timingSafeEqual(each, given)).length > 0;
    return isInstallation ? INSTALLATION : otherwise(credential);
  };
}
