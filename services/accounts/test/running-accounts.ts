import {
  ACCOUNT_CHANGES_STREAM,
  AccountChanged,
  AccountsAdminServiceClient,
  AccountsServiceClient,
  type BlockedNetwork,
  type Plan,
  tokenSha256,
  type VerifyTokenResponse,
} from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import { launchService } from '@brand-data/testing/running-service';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect } from 'vitest';

const OPERATOR_TOKEN = 'the operator credential of tests';

/** The service in a separate process, and clients that call it. */
export interface RunningAccounts {
  admin: AccountsAdminServiceClient;
  /** Makes a call as the installation's operator, or with another credential: `operate(admin.setPlan, { … })`. */
  operate: <Request, Response>(
    method: Parameters<typeof callUnary<Request, Response>>[1],
    request: Request,
    as?: { operatorToken?: string; requestId?: string },
  ) => Promise<Response>;
  verify: (tokenSha256: Buffer) => Promise<VerifyTokenResponse['outcome']>;
  verifyToken: (token: string) => Promise<VerifyTokenResponse['outcome']>;
  /** As gateways list them. */
  blockedNetworks: () => Promise<BlockedNetwork[]>;
  publicPlans: () => Promise<Plan[]>;
  /** Everything that the process has logged. */
  log: () => string;
  /** Sends SIGTERM. Resolves to the exit code. */
  stop: () => Promise<number | null>;
  /** Sends SIGKILL. */
  kill: () => Promise<void>;
}

export async function startAccounts(
  settings: { mongodbUrl: string; natsUrl: string; database: string },
  environment: Record<string, string> = {},
): Promise<RunningAccounts> {
  const { target, adminTarget, log, untilReady, stop, kill } = await launchService(
    'accounts',
    { ...settings, operatorToken: OPERATOR_TOKEN },
    { LOG_LEVEL: 'debug', TOKEN_HASH_KEY: 'the secret that tests hash tokens with', ...environment },
  );
  await untilReady();
  const accountsClient = connectChannel(AccountsServiceClient, target, channelAs('gateway', 'accounts'));
  const adminClient = connectChannel(AccountsAdminServiceClient, adminTarget, channelAs('bds', 'accounts'));
  const verify = async (digest: Buffer) => {
    const request = { tokenSha256: digest };
    const { verifyToken } = accountsClient;
    return (await callUnary(accountsClient, verifyToken, request, { deadlineMs: 10_000 })).outcome;
  };
  const close = () => {
    accountsClient.close();
    adminClient.close();
  };
  return {
    admin: adminClient,
    operate: (method, request, as) =>
      callUnary(adminClient, method, request, { deadlineMs: 15_000, operatorToken: OPERATOR_TOKEN, ...as }),
    verify,
    verifyToken: (token) => verify(tokenSha256(token)),
    blockedNetworks: async () => {
      const { listBlockedNetworks } = accountsClient;
      return (await callUnary(accountsClient, listBlockedNetworks, {}, { deadlineMs: 10_000 })).networks;
    },
    publicPlans: async () => {
      const { listPublicPlans } = accountsClient;
      return (await callUnary(accountsClient, listPublicPlans, {}, { deadlineMs: 10_000 })).plans;
    },
    log,
    stop: () => {
      close();
      return stop();
    },
    kill: () => {
      close();
      return kill();
    },
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
