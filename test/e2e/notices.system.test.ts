import { monthOf, NOTICES_STREAM } from '@brand-data/contracts';
import { runBds } from '@brand-data/operator/test/run-bds.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { startWebhookReceiver, type WebhookReceiver } from '@brand-data/testing/webhook-receiver';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';

const SECRET = `whsec_${Buffer.alloc(32, 'notices').toString('base64')}`;
const ROUNDS = 10;
const REPLICAS = ['metering-1', 'metering-2'];
const month = monthOf(Date.now());

let stack: TestStack;
let folder: string;
let receiver: WebhookReceiver;
let status = 204;

beforeAll(async () => {
  folder = await temporaryFolder();
  receiver = await startWebhookReceiver(() => ({ status }));
  stack = await startTestStack({
    gateways: 1,
    replicas: { metering: 2, images: 0 },
    environment: { NOTICE_WEBHOOK_URL: receiver.url, NOTICE_WEBHOOK_SECRETS: SECRET },
  });
});

afterAll(async () => {
  await stack?.stop();
  await receiver?.stop();
});

const bds = (...args: string[]) => runBds(stack, folder, args);

async function json(...args: string[]) {
  const { code, out, errors } = await bds(...args, '--json');
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  return JSON.parse(out);
}

/** Returns an account with this allowance, and a function that makes one call and resolves to its status. */
async function newCaller(account: string, allowance: number): Promise<() => Promise<number>> {
  await json('plan', 'set', `plan-${allowance}`, '--pool', `calls=${allowance}:brands,logos`);
  await json('account', 'create', '--id', account, '--name', account, '--plan', `plan-${allowance}`);
  const { token } = await json('key', 'create', account);
  return async () => {
    const response = await fetch(`${stack.gateways[0]?.url}/api/logos/nothing-has-this/info?token=${token}`);
    await response.arrayBuffer();
    return response.status;
  };
}

/** Makes this many counted calls. A call that gets 503 is made again. */
async function use(call: () => Promise<number>, calls: number): Promise<void> {
  for (let counted = 0; counted < calls; ) {
    const answer = await call();
    if (answer === 429) return;
    if (answer === 404) counted += 1;
    else expect(answer).toBe(503);
  }
}

/** Returns the ids of all messages in the stream of notices. */
async function published(): Promise<string[]> {
  const connection = await connect({ servers: stack.natsUrl });
  try {
    const consumer = await jetstream(connection).consumers.get(NOTICES_STREAM);
    const { num_pending: count } = await consumer.info();
    const ids: string[] = [];
    if (count === 0) return ids;
    for await (const message of await consumer.fetch({ max_messages: count, expires: 5_000 }))
      ids.push(message.json<{ id: string }>().id);
    return ids;
  } finally {
    await connection.close();
  }
}

const received = () => [...new Set(receiver.received.map(({ id }) => id))].sort();

describe('notices', () => {
  test('reach webhook and stream of exactly the accounts that passed 80 and 100 %, while replicas of metering are killed', async () => {
    const passing = ['pass-5', 'pass-20', 'pass-40', 'pass-50'];
    // A 503 may be billed, so these stay far below 80 %.
    const few = ['few-50', 'few-90'];
    const allowanceOf = (account: string) => Number(account.split('-')[1]);
    const callers = new Map<string, () => Promise<number>>();
    for (const account of [...passing, ...few])
      callers.set(account, await newCaller(account, allowanceOf(account)));
    for (let round = 0; round < ROUNDS; round++) {
      const killed = REPLICAS[round % 2] ?? '';
      await Promise.all([
        stack.kill(killed).then(() => stack.restart(killed)),
        ...[...callers].map(([account, call]) => {
          const share = passing.includes(account) ? 1.5 : 0.1;
          return use(call, Math.ceil((share * allowanceOf(account)) / ROUNDS));
        }),
      ]);
    }
    const wanted = passing
      .flatMap((account) =>
        [80, 100].map((threshold) => `${account}/calls/${month}/${allowanceOf(account)}/${threshold}`),
      )
      .sort();
    // A replica that was killed holds claims for a minute.
    await expect.poll(received, { timeout: 100_000 }).toEqual(wanted);
    await expect.poll(async () => (await published()).sort(), { timeout: 100_000 }).toEqual(wanted);
    const { notices } = await json('notice', 'list', '--month', month);
    expect(notices.map(({ id }: { id: string }) => id).sort()).toEqual(wanted);
    const standard = new StandardWebhook(SECRET);
    for (const { headers, body, id } of receiver.received)
      expect(standard.verify(body, headers as Record<string, string>)).toMatchObject({ id });
  });

  test('that a webhook refuses are listed with the reason, and redelivered once it accepts a test event', async () => {
    status = 410;
    const call = await newCaller('refused-5', 5);
    await use(call, 4);
    const id = `refused-5/calls/${month}/5/80`;
    const listed = async () => (await json('notice', 'list', '--account', 'refused-5')).notices;
    await expect.poll(listed).toMatchObject([{ id, delivery: 'failed', attempts: 1, failure: 'status 410' }]);
    const { code, out } = await bds('notice', 'test');
    expect([code, out]).toEqual([1, expect.stringContaining('status 410')]);
    const shown = await bds('notice', 'list', '--state', 'failed');
    expect(shown.out).toMatch(/TIME +NOTICE +PASSED +USED +DELIVERY/);
    expect(shown.out).toContain(id);
    const doctor = await json('doctor');
    expect(doctor.checks).toContainEqual(expect.objectContaining({ check: 'notices', state: 'warning' }));

    status = 204;
    expect(await json('notice', 'test')).toMatchObject({ accepted: true });
    const redelivered = await bds('notice', 'redeliver', id, 'nobody/calls/2026-11/5/80', '--json');
    expect(redelivered.code).toBe(1);
    expect(JSON.parse(redelivered.out)).toEqual({
      redelivered: [id],
      skipped: ['nobody/calls/2026-11/5/80'],
    });
    await expect.poll(listed).toMatchObject([{ id, delivery: 'delivered', attempts: 1 }]);
    const csv = await bds('notice', 'list', '--account', 'refused-5', '--csv');
    expect(csv.out.split('\n')[1]).toMatch(/^refused-5\/calls\/\d{4}-\d{2}\/5\/80,refused-5,calls,/);
  });
});
