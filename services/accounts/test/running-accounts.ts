import {
  ACCOUNT_CHANGES_STREAM,
  AccountChanged,
  AccountsAdminServiceClient,
  AccountsServiceClient,
  tokenSha256,
} from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import { launchService } from '@brand-data/testing/running-service';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect } from 'vitest';

const OPERATOR_TOKEN = 'the operator credential of tests';

export type RunningAccounts = Awaited<ReturnType<typeof startAccounts>>;

/** Starts the service in a separate process. Resolves to functions that call it. */
export async function startAccounts(
  settings: { mongodbUrl: string; natsUrl: string; database: string },
  environment: Record<string, string> = {},
) {
  const service = await launchService(
    'accounts',
    { ...settings, operatorToken: OPERATOR_TOKEN },
    { LOG_LEVEL: 'debug', TOKEN_HASH_KEY: 'the secret that tests hash tokens with', ...environment },
  );
  await service.untilReady();
  const client = connectChannel(AccountsServiceClient, service.target, channelAs('gateway', 'accounts'));
  const ofBds = channelAs('bds', 'accounts');
  const admin = connectChannel(AccountsAdminServiceClient, service.adminTarget, ofBds);
  service.clients.push(client, admin);
  const options = { deadlineMs: 10_000 };
  const verify = async (digest: Buffer) =>
    (await callUnary(client, client.verifyToken, { tokenSha256: digest }, options)).outcome;
  return {
    ...service,
    admin,
    /** Makes a call as the installation's operator, or with another credential: `operate(admin.setPlan, { … })`. */
    operate: <Request, Response>(
      method: Parameters<typeof callUnary<Request, Response>>[1],
      request: Request,
      as?: { operatorToken?: string; requestId?: string },
    ) => callUnary(admin, method, request, { deadlineMs: 15_000, operatorToken: OPERATOR_TOKEN, ...as }),
    verify,
    verifyToken: (token: string) => verify(tokenSha256(token)),
    /** As gateways list them. */
    blockedNetworks: async () => (await callUnary(client, client.listBlockedNetworks, {}, options)).networks,
    publicPlans: async () => (await callUnary(client, client.listPublicPlans, {}, options)).plans,
  };
}

/** Returns all notices to the gateways that JetStream holds, in the order of their arrival. */
export async function readNotices(natsUrl: string): Promise<AccountChanged[]> {
  const connection = await connect({ servers: natsUrl });
  try {
    const { streams } = await jetstreamManager(connection);
    const { messages, first_seq, last_seq } = (await streams.info(ACCOUNT_CHANGES_STREAM)).state;
    const notices: AccountChanged[] = [];
    for (let seq = first_seq; messages > 0 && seq <= last_seq; seq++) {
      const message = await streams.getMessage(ACCOUNT_CHANGES_STREAM, { seq });
      if (message) notices.push(AccountChanged.decode(message.data));
    }
    return notices;
  } finally {
    await connection.close();
  }
}

/** Fails the test if the answer lacks a field that the contract promises. */
export function present<T>(value: T | undefined): T {
  expect(value).toBeDefined();
  return value as T;
}
