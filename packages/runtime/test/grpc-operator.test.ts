import { GRPC_SERVICES, MeteringAdminServiceClient } from '@brand-data/contracts';
import { freePort } from '@brand-data/servers';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, test } from 'vitest';
import { Fault } from '../src/base/fault.ts';
import { callUnary, connectChannel } from '../src/grpc/client.ts';
import { installationOr, type OperatorCall, type Operators, operatorCallOf } from '../src/grpc/operator.ts';
import { startGrpcServer, unary } from '../src/grpc/server.ts';
import { INSECURE_PLAINTEXT } from '../src/grpc/transport.ts';
import type { Service } from '../src/service/service.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** An admin port that accepts the tokens, and a function that calls it. */
async function startPort(
  operatorTokens: readonly string[],
  { otherwise = async () => 'unknown' }: { otherwise?: Operators['authenticate'] } = {},
) {
  const lines: object[] = [];
  const calls: OperatorCall[] = [];
  const metrics = new Registry();
  const service = {
    metrics,
    tracer: undefined,
    readiness: { onChange: () => {} },
    log: { warn: (line: object) => lines.push(line), error: () => {} },
    onSettingChange: () => {},
    onStop: (_what: string, stop: () => unknown) => stops.push(stop),
  } as unknown as Service;
  const port = await freePort();
  await startGrpcServer(service, {
    transport: INSECURE_PLAINTEXT,
    host: '127.0.0.1',
    port,
    operators: {
      authenticate: installationOr(service, operatorTokens, otherwise),
      roleNeeded: new Map([['/brand_data.v1.MeteringAdminService/GetUsage', 'needed']]),
      mayCall: (role, needed) => role === 'all' || role === needed,
    },
    services: [
      {
        ...GRPC_SERVICES.MeteringAdminService,
        handlers: {
          getUsage: unary(service, async (_request, metadata) => {
            calls.push(operatorCallOf(metadata));
            return { usage: undefined };
          }),
        },
      },
    ],
  });
  const client = connectChannel(MeteringAdminServiceClient, `127.0.0.1:${port}`, {
    transport: INSECURE_PLAINTEXT,
    peer: 'metering',
  });
  stops.push(() => client.close());
  return {
    lines,
    calls,
    call: (operatorToken: string | undefined, requestId?: string) =>
      callUnary(
        client,
        client.getUsage,
        { accountId: 'acme', month: '' },
        { deadlineMs: 10_000, operatorToken, requestId },
      ),
    refusals: async () => {
      const found = await metrics.getSingleMetric('grpc_operator_refusals_total')?.get();
      return Object.fromEntries((found?.values ?? []).map(({ labels, value }) => [labels.reason, value]));
    },
  };
}

const OLD = 'the old credential';
const NEW = 'the new credential';

describe('while the credential is replaced in the documented steps', () => {
  // Lines of OPERATOR_TOKEN before the replacement and after each step. `bds` sends the first line.
  const steps = [[OLD], [OLD, NEW], [NEW, OLD], [NEW]];
  const changes = steps.slice(1).map((after, index) => ({ before: steps[index] ?? [], after }));

  test.each(changes)(
    'no call fails, whichever side changes first: $before to $after',
    async ({ before, after }) => {
      for (const port of [await startPort(before), await startPort(after)])
        for (const [sent] of [before, after]) expect(await port.call(sent)).toEqual({ usage: undefined });
    },
  );
});

test('a refused credential is counted by its reason and logged with the address it came from, and the log does not hold it', async () => {
  const { call, refusals, lines } = await startPort([OLD, NEW]);
  expect(await refusals()).toEqual({ missing: 0, unknown: 0, revoked: 0, expired: 0, role: 0 });
  for (const sent of [undefined, '', `${OLD}x`, OLD.slice(1), `${OLD} ${NEW}`])
    await expect(call(sent)).rejects.toMatchObject({ kind: 'unauthenticated' });
  await call(OLD);
  expect(await refusals()).toEqual({ missing: 2, unknown: 3, revoked: 0, expired: 0, role: 0 });
  const method = '/brand_data.v1.MeteringAdminService/GetUsage';
  const from = expect.stringMatching(/^127\.0\.0\.1:\d+$/);
  expect(lines).toEqual(
    ['missing', 'missing', 'unknown', 'unknown', 'unknown'].map((reason) => ({
      method,
      from,
      reason,
      operator: undefined,
    })),
  );
});

test('an operator is let in by role, and the handler learns who calls and from where', async () => {
  const operators: Record<string, Awaited<ReturnType<Operators['authenticate']>>> = {
    ana: { name: 'ana', role: 'needed', credentialId: 'opc-1' },
    ben: { name: 'ben', role: 'other', credentialId: 'opc-2' },
    gone: 'revoked',
  };
  const { call, calls, lines, refusals } = await startPort([OLD], {
    otherwise: async (credential) => {
      if (credential === 'away') throw new Fault('unavailable', 'the store does not answer');
      return operators[credential] ?? 'unknown';
    },
  });
  const from = expect.stringMatching(/^127\.0\.0\.1:\d+$/);
  await call('ana', 'run-1');
  await call('ana', 'not an id: {}');
  await call(OLD, 'run-2');
  expect(calls).toEqual([
    { operator: operators.ana, from, requestId: 'run-1' },
    { operator: operators.ana, from, requestId: expect.stringMatching(/^[\w-]{36}$/) },
    { operator: { name: 'installation', role: 'all', credentialId: '' }, from, requestId: 'run-2' },
  ]);
  await expect(call('ben')).rejects.toMatchObject({
    kind: 'permission_denied',
    message: 'this needs the role needed; ben has other',
  });
  await expect(call('gone')).rejects.toMatchObject({ kind: 'unauthenticated', message: /revoked/ });
  await expect(call('away')).rejects.toMatchObject({ kind: 'unavailable' });
  expect(calls).toHaveLength(3);
  expect(await refusals()).toEqual({ missing: 0, unknown: 0, revoked: 1, expired: 0, role: 1 });
  expect(lines).toMatchObject([{ reason: 'role', operator: 'ben' }, { reason: 'revoked' }]);
});
