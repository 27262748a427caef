import {
  MeteringServiceClient,
  type MeteringServiceServer,
  MeteringServiceService,
  type ReportResponse,
} from '@brand-data/contracts';
import { hedge } from '@brand-data/gateway/src/upstream/hedge.ts';
import { callUnary, connectChannel, INSECURE_PLAINTEXT, systemClock } from '@brand-data/runtime';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, expect, test, vi } from 'vitest';

const REQUESTS = 10;
/** So long that a slow machine cannot be the reason for a request without an answer. */
const WITHIN_MS = 60_000;
const NO_ANSWER = () => {};

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Starts a replica of metering, of which only Report is of interest. */
async function startReplica(report: (answer: (response: ReportResponse) => void) => void, port = 0) {
  const server = new Server();
  const implementation: MeteringServiceServer = {
    acquire: NO_ANSWER,
    readUsage: NO_ANSWER,
    report: (_call, answered) => report((response) => answered(null, response)),
  };
  server.addService(MeteringServiceService, implementation);
  ends.push(() => server.forceShutdown());
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, at) =>
      error ? reject(error) : resolve(at),
    ),
  );
  return { port: bound, stop: () => server.forceShutdown() };
}

test(
  'usage is reported to the replica that works, although its connection is replaced while the other one hangs',
  async () => {
    const stored: ReportResponse = { refusedGrantIds: [], unavailableGrantIds: [] };
    let hanging = 0;
    let isHanging = false;
    const frozen = await startReplica((answer) => {
      if (isHanging) hanging += 1;
      else answer({ ...stored, refusedGrantIds: ['frozen'] });
    });
    const before = await startReplica((answer) => answer(stored));
    const replicas = `ipv4:127.0.0.1:${frozen.port},127.0.0.1:${before.port}`;
    const channel = { transport: INSECURE_PLAINTEXT, peer: 'metering' };
    const metering = connectChannel(MeteringServiceClient, replicas, channel);
    ends.push(() => metering.close());
    const report = (key: string) =>
      hedge(systemClock, WITHIN_MS, { key }, (deadlineMs, replica) =>
        callUnary(metering, metering.report, { holder: 'gateway-1', usage: [] }, { deadlineMs, replica }),
      );
    const keys = Array.from({ length: REQUESTS }, (_, number) => `gateway-${number}`);
    const answers = async () => {
      const names = (await Promise.all(keys.map(report))).flatMap(
        ({ refusedGrantIds: [name] }) => name ?? 'works',
      );
      return [...new Set(names)].sort();
    };
    await vi.waitFor(async () => expect(await answers()).toEqual(['frozen', 'works']), WITHIN_MS);
    before.stop();
    await vi.waitFor(async () => expect(await answers()).toEqual(['frozen']), WITHIN_MS);

    isHanging = true;
    const reported = Promise.all(keys.map(report));
    await vi.waitFor(() => expect(hanging).toBe(REQUESTS), WITHIN_MS);
    await startReplica((answer) => answer(stored), before.port);
    expect(await reported).toEqual(keys.map(() => stored));
    expect(hanging, 'no replica gets a request twice').toBe(REQUESTS);
  },
  3 * WITHIN_MS,
);
