import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { usageStream } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { Wire } from '@brand-data/testing/wire';
import { jetstream } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { usageOf } from './ledger-actions.ts';
import { type MeteringClient, meteringClient, newAccount, signedEvent } from './metering-client.ts';
import { type RunningMetering, startMetering } from './running-metering.ts';

const operatorToken = 'operator-token-of-this-test';
const database = `metering_${randomBytes(6).toString('hex')}`;
const patiently = { timeout: 20_000 };
/** No account should be without permits for more than 2 s. The bound is larger for a machine that runs other tests too. */
const WITHOUT_PERMITS_MS = 8_000;
/** A number that is larger than the number of commands with which a replica closes a grant. */
const MOST_COMMANDS = 20;

let natsServer: TestServer;
let nats: NatsConnection;
let healthy: RunningMetering;
let client: MeteringClient;

beforeAll(async () => {
  natsServer = await startTestNats();
  nats = await connect({ servers: natsServer.url });
  healthy = await startReplica(inject('mongodbUrl'));
  client = meteringClient(healthy, operatorToken);
});

afterAll(async () => {
  client?.close();
  await healthy?.stop();
  await nats?.close();
  await natsServer?.stop();
});

const startReplica = (mongodbUrl: string) =>
  startMetering({ mongodbUrl, natsUrl: natsServer.url, operatorToken, database });

/** Loses a replica while it closes a grant, after this many of its commands to MongoDB. */
async function loseReplica(
  replica: Losable,
  how: Loss,
  { grantId, afterCommands }: { grantId: string; afterCommands: number },
): Promise<'lost' | 'closed'> {
  const lost = replica.wire.blackholeAfter(database, afterCommands).then(async () => {
    if (how === 'killed') await replica.process.kill();
    if (how === 'frozen') process.kill(replica.process.pid, 'SIGSTOP');
    return 'lost' as const;
  });
  const closed = replica.client.report(usageOf(grantId, 5, { closed: true })).then(
    () => 'closed' as const,
    () => lost,
  );
  return Promise.race([lost, closed]);
}

/** Starts a replica that can reach MongoDB only over the wire. */
async function startLosable() {
  const wire = await Wire.start();
  const process = await startReplica(`${wire.to(inject('mongodbUrl'))}/?directConnection=true`);
  return { process, client: meteringClient(process, operatorToken), wire };
}

type Loss = (typeof LOSSES)[number];
const LOSSES = ['killed', 'frozen', 'cut off'] as const;

describe('if a replica that closes a grant is, after any of its commands,', () => {
  test.each(LOSSES)(
    '%s, no account is left without permits, and usage of other accounts is applied',
    async (how) => {
      let afterCommands = 0;
      for (let outcome = 'lost'; outcome === 'lost'; afterCommands++) {
        expect(afterCommands).toBeLessThan(MOST_COMMANDS);
        const replica = await startLosable();
        try {
          outcome = await closeAndLose(replica, how, afterCommands);
        } finally {
          replica.client.close();
          await replica.process.kill();
          replica.wire.close();
        }
      }
      // A close sends more than one command. Otherwise the test would show nothing.
      expect(afterCommands).toBeGreaterThan(1);
    },
  );
});

type Losable = Awaited<ReturnType<typeof startLosable>>;

/**
 * Loses a replica during a close. The other replica must give out permits of the same ledger, and accept the usage that the lost
 * replica did not answer.
 */
async function closeAndLose(replica: Losable, how: Loss, afterCommands: number): Promise<'lost' | 'closed'> {
  const accounts = [newAccount(), newAccount(), newAccount()] as const;
  const [account, reporting, streaming] = accounts;
  const { id } = await client.grantFor(account);
  const ofReporting = await client.grantFor(reporting);
  const ofStreaming = await client.grantFor(streaming);
  await client.report(usageOf(id, 3));

  const outcome = await loseReplica(replica, how, { grantId: id, afterCommands });
  const lostMs = performance.now();
  const usage = [usageOf(id, 5, { closed: true }), usageOf(ofStreaming.id, 6)];
  const { payload, options } = signedEvent(usage);
  await jetstream(nats).publish(usageStream(1).subjectOf('test'), payload, options);
  const [grantedMs, reportedMs] = await Promise.all([
    msUntil(lostMs, () => client.grantFor(account)),
    msUntil(lostMs, async () => {
      const told = await client.report(usageOf(id, 5, { closed: true }), usageOf(ofReporting.id, 4));
      expect(told.refusedGrantIds).not.toContain(ofReporting.id);
      if (told.unavailableGrantIds.includes(ofReporting.id)) throw new Fault('unavailable', 'not yet');
    }),
  ]);
  const late = { afterCommands, grantedMs, reportedMs };
  expect(Math.max(grantedMs, reportedMs), JSON.stringify(late)).toBeLessThan(WITHOUT_PERMITS_MS);
  const billed = () => Promise.all(accounts.map(async (each) => (await client.poolOf(each)).used));
  await expect.poll(billed, patiently).toEqual([5, 4, 6]);
  return outcome;
}

/** Repeats the attempt until it does not reject. Returns the milliseconds since `sinceMs`. */
async function msUntil(sinceMs: number, attempt: () => Promise<unknown>): Promise<number> {
  for (;;) {
    const isDone = await attempt().then(
      () => true,
      (error: unknown) => {
        if (error instanceof Fault && error.kind === 'unavailable') return false;
        throw error;
      },
    );
    const tookMs = performance.now() - sinceMs;
    if (isDone || tookMs > 2 * WITHOUT_PERMITS_MS) return tookMs;
    await delay(20);
  }
}
