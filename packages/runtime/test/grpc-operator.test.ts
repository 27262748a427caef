import { Registry } from 'prom-client';
import { afterEach, describe, expect, test } from 'vitest';
import { freePort } from '../../../deploy/local/src/ports.ts';
import { MeteringAdminServiceClient, MeteringAdminServiceService } from '../../contracts/src/index.ts';
import { callUnary, connectChannel } from '../src/grpc-client.ts';
import { startGrpcServer, unary } from '../src/grpc-server.ts';
import type { Service } from '../src/service.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** An admin port that accepts the tokens, and a function that calls it. */
async function startPort(operatorTokens: readonly string[]) {
  const lines: object[] = [];
  const metrics = new Registry();
  const service = {
    ...{ metrics, tracer: undefined, readiness: { onChange: () => {} } },
    log: { warn: (line: object) => lines.push(line), error: () => {} },
    onSettingChange: () => {},
    onStop: (_what: string, stop: () => unknown) => stops.push(stop),
  } as unknown as Service;
  const port = await freePort();
  await startGrpcServer(service, {
    ...{ host: '127.0.0.1', port, operatorTokens },
    services: [
      {
        definition: MeteringAdminServiceService,
        handlers: { getUsage: unary(service, async () => ({ usage: undefined })) },
      },
    ],
  });
  const client = connectChannel(MeteringAdminServiceClient, `127.0.0.1:${port}`);
  stops.push(() => client.close());
  return {
    lines,
    call: (operatorToken: string | undefined) =>
      callUnary(
        client,
        client.getUsage,
        { accountId: 'acme', month: '' },
        { deadlineMs: 10_000, operatorToken },
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
  expect(await refusals()).toEqual({ missing: 0, unknown: 0 });
  for (const sent of [undefined, '', `${OLD}x`, OLD.slice(1), `${OLD} ${NEW}`])
    await expect(call(sent)).rejects.toMatchObject({ kind: 'unauthenticated' });
  await call(OLD);
  expect(await refusals()).toEqual({ missing: 2, unknown: 3 });
  const method = '/brand_data.v1.MeteringAdminService/GetUsage';
  const from = expect.stringMatching(/^127\.0\.0\.1:\d+$/);
  expect(lines).toEqual(
    ['missing', 'missing', 'unknown', 'unknown', 'unknown'].map((reason) => ({ method, from, reason })),
  );
});
