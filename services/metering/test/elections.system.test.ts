import { randomBytes } from 'node:crypto';
import { type GrantUsage, usageStream } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { type MongodCluster, startMongodCluster } from '@brand-data/testing/clusters';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { inStaleView } from '@brand-data/testing/stale-view';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { jetstream } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { usageOf } from './ledger-actions.ts';
import { type MeteringClient, meteringClient, newAccount, signedEvent } from './metering-client.ts';
import { type RunningMetering, startMetering } from './running-metering.ts';

const operatorToken = 'operator-token-of-this-test';
const patiently = { timeout: 40_000 };
let mongodb: MongodCluster;
let natsServer: TestServer;
let nats: NatsConnection;
let metering: RunningMetering;
let client: MeteringClient;

beforeAll(async () => {
  [mongodb, natsServer] = await Promise.all([startMongodCluster(await temporaryFolder()), startTestNats()]);
  nats = await connect({ servers: natsServer.url });
  const database = `metering_${randomBytes(6).toString('hex')}`;
  metering = await startMetering({
    mongodbUrl: mongodb.url,
    natsUrl: natsServer.url,
    operatorToken,
    database,
  });
  client = meteringClient(metering, operatorToken);
});

afterAll(async () => {
  client?.close();
  await metering?.stop();
  await nats?.close();
  await Promise.all([natsServer?.stop(), mongodb?.stop()]);
});

interface Given {
  accountId: string;
  grantId: string;
}

async function newGrant(accountId: string): Promise<Given> {
  return { accountId, grantId: (await client.grantFor(accountId)).id };
}

/**
 * Opens two grants: one of an account that the old state does not contain, and one of an account of which the old state contains
 * another grant.
 */
async function newGrants(known: string): Promise<Given[]> {
  return [await newGrant(newAccount()), await newGrant(known)];
}

async function knownAccount(): Promise<string> {
  return (await newGrant(newAccount())).accountId;
}

const billedTo = async ({ accountId }: Given) => (await client.poolOf(accountId)).used;

/** Returns the ids of the grants whose usage metering refuses. Empty if metering cannot answer at the moment. */
async function refusedOf(...usage: GrantUsage[]): Promise<string[]> {
  try {
    return (await client.report(...usage)).refusedGrantIds;
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unavailable') return [];
    throw error;
  }
}

/** Returns how many messages from the stream metering has tried to apply, successfully or not. */
const triedMessages = () => metering.metric('metering_usage_messages_total');

const LOSSES = ['killed', 'deposed'] as const;

describe('usage of a grant that was given out just before the primary was', () => {
  test.each(LOSSES)(
    '%s is not refused when it is reported, and is billed when it is sent again',
    async (how) => {
      const known = await knownAccount();
      const grants = await inStaleView(
        mongodb,
        () => newGrants(known),
        async (given) => {
          for (const { grantId } of given) expect(await refusedOf(usageOf(grantId, 5))).toEqual([]);
        },
        how,
      );
      for (const given of grants) {
        const sentAgain = async () => {
          expect(await refusedOf(usageOf(given.grantId, 5, { closed: true }))).toEqual([]);
          return billedTo(given);
        };
        await expect.poll(sentAgain, patiently).toBe(5);
      }
    },
  );

  test.each(LOSSES)('%s is billed when the stream brings it', async (how) => {
    const known = await knownAccount();
    const grants = await inStaleView(
      mongodb,
      () => newGrants(known),
      async (given) => {
        const tried = await triedMessages();
        for (const { grantId } of given) {
          const { payload, options } = signedEvent([usageOf(grantId, 7)]);
          await jetstream(nats).publish(usageStream(1).subjectOf('test'), payload, options);
        }
        await expect.poll(triedMessages, patiently).toBeGreaterThan(tried + 1);
      },
      how,
    );
    for (const given of grants) await expect.poll(() => billedTo(given), patiently).toBe(7);
  });
});
