import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IDENTITIES } from '@brand-data/contracts';
import { keepCertificates, replaceFile, settingFile } from '@brand-data/local';
import {
  certificateFiles,
  type LocalServer,
  natsUrlOf,
  natsUsers,
  newSecrets,
  newSigningKeys,
  publicKeyOf,
  startNatsServer,
} from '@brand-data/servers';
import { newAuthority, newCertificate } from '@brand-data/servers/certificate-maker';
import { NO_USER_NEEDED } from '@brand-data/testing/servers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf, untilAnswered } from './caller.ts';
import { bareMerchant, fullStock } from './fixtures.ts';
import { nextUsers } from './next-users.ts';
import { TestOperator } from './operator.ts';

const { serverSecret } = newSecrets();
const VALID = { nowMs: Date.now(), days: 300 };
const PATIENCE = { timeout: 120_000 };

let nats: LocalServer;
let natsConfig: string;
let certificates: string;
let stack: TestStack;

beforeAll(async () => {
  const dataDir = await temporaryFolder();
  natsConfig = join(dataDir, 'nats-server.conf');
  certificates = join(dataDir, 'certificates');
  await keepCertificates(certificates);
  nats = await startNatsServer({ dataDir, settings: [...natsUsers(serverSecret), NO_USER_NEEDED] });
  stack = await startTestStack({
    gateways: 2,
    replicas: { images: 0 },
    natsUrl: nats.url,
    certificates,
    change: ({ environment: { PASS_PUBLIC_KEYS, ...environment }, ...service }) => ({
      ...service,
      environment,
      secretSettings: {
        ...service.secretSettings,
        NATS_URL: natsUrlOf(service.service, nats.url, serverSecret),
        // As in the chart, a file that the service reads again.
        ...(PASS_PUBLIC_KEYS !== undefined && { PASS_PUBLIC_KEYS: String(PASS_PUBLIC_KEYS) }),
      },
    }),
  });
});
afterAll(async () => {
  await stack?.stop();
  await nats?.stop();
});

const NAMES = ['accounts', 'catalog', 'metering', 'gateway-1', 'gateway-2'];
const fileOf = (name: string, setting: string) => settingFile(stack.dataDir, name, setting);
const change = async (name: string, setting: string, how: (old: string) => string) =>
  replaceFile(fileOf(name, setting), how(await readFile(fileOf(name, setting), 'utf8')));

/** Replaces every secret that can be replaced, as deploy/operations.md says, in its three steps. */
async function rotation(users: Awaited<ReturnType<typeof nextUsers>>) {
  const oldCa = await readFile(certificateFiles(certificates, 'gateway').ca, 'utf8');
  const authority = await newAuthority(VALID);
  const trust = (pem: string) =>
    Promise.all(IDENTITIES.map((identity) => replaceFile(certificateFiles(certificates, identity).ca, pem)));
  const { allowanceKeyFiles: allowances, operator } = stack;
  const [allowanceKeys, passKeys] = [newSigningKeys(), newSigningKeys()];
  const oldAllowances = await readFile(allowances.verifying, 'utf8');
  const passVerifiers = ['catalog', 'metering'];
  const operatorTokens = (tokens: string) =>
    Promise.all(passVerifiers.concat('accounts').map((name) => change(name, 'OPERATOR_TOKEN', () => tokens)));
  const monograms = (how: (old: string) => string) =>
    Promise.all(['gateway-1', 'gateway-2'].map((name) => change(name, 'MONOGRAM_KEYS', how)));
  const [oldToken, newToken] = [operator.operatorToken, 'the next token of the installation'];
  return {
    newToken,
    async addNew() {
      await users.add();
      await trust(oldCa + authority.cert);
      await replaceFile(allowances.verifying, oldAllowances + allowanceKeys.verifying);
      for (const name of passVerifiers)
        await change(name, 'PASS_PUBLIC_KEYS', (old) => old + passKeys.verifying);
      await operatorTokens(`${oldToken}\n${newToken}\n`);
      await monograms((old) => `${old}\nthe next key of monograms`);
    },
    async useNew() {
      for (const identity of IDENTITIES) {
        const files = certificateFiles(certificates, identity);
        const { cert, key } = await newCertificate(authority, [`${identity}.brand-data.internal`], VALID);
        await replaceFile(files.key, key);
        await replaceFile(files.cert, cert);
      }
      await replaceFile(allowances.signing, allowanceKeys.signing);
      await change('accounts', 'PASS_SIGNING_KEY', () => passKeys.signing);
      for (const name of NAMES) await users.use(name);
      await operatorTokens(`${newToken}\n${oldToken}\n`);
      await monograms((old) => old.split('\n').toReversed().join('\n'));
    },
    async removeOld() {
      await users.removeOld();
      await trust(authority.cert);
      await replaceFile(allowances.verifying, publicKeyOf(allowanceKeys.signing));
      for (const name of passVerifiers) await change(name, 'PASS_PUBLIC_KEYS', () => passKeys.verifying);
      await operatorTokens(`${newToken}\n`);
      await monograms((old) => old.split('\n')[0] ?? '');
    },
  };
}

test('all secrets are replaced while each gateway restarts, and every call is answered by a gateway that runs', async () => {
  const users = await nextUsers(stack, nats, natsConfig);
  let operator = new TestOperator(stack);
  await operator.putBrands([fullStock, bareMerchant]);
  const { accountId, token } = await operator.newAccount(1_000_000);
  let [answered, unsure, isOver] = [0, 0, false];
  const failures: unknown[] = [];
  /** How often each gateway has begun or ended a restart: an even number while it runs. */
  const turns = [0, 0];
  const restart = async (index: number) => {
    turns[index] = (turns[index] ?? 0) + 1;
    await stack.restart(`gateway-${index + 1}`);
    turns[index] += 1;
  };
  const call = async (turn: number): Promise<void> => {
    // As a load balancer does, a call that a gateway does not take because it restarts goes to the other one.
    for (let tried = turn; ; tried++) {
      const index = tried % 2;
      const before = turns[index] ?? 0;
      const gateway = stack.gateways[index] ?? { url: '' };
      const identifier = turn % 3 ? 'ZPHX' : `nobody ${turn}`;
      const ask = async () => {
        const response = await callerOf(gateway).brand(identifier, token);
        if (response.status === 503) unsure += 1;
        return response;
      };
      try {
        const response = await untilAnswered(ask);
        const text = await response.text();
        if (response.status === 200 || response.status === 404) answered += 1;
        else failures.push(`${response.status} ${text}`);
        return;
      } catch (error) {
        unsure += 1;
        const isRestarted = before % 2 === 1 || before !== turns[index];
        if (!isRestarted) return void failures.push(error);
      }
    }
  };
  const work = async (from: number) => {
    for (let turn = from; !isOver; turn++) await call(turn);
  };
  const working = Promise.all([work(0), work(1)]);
  const untilCalled = async (times: number) => {
    const then = answered;
    await expect.poll(() => answered + failures.length, PATIENCE).toBeGreaterThan(then + times);
  };
  try {
    const { newToken, addNew, useNew, removeOld } = await rotation(users);
    for (const step of [addNew, useNew, removeOld]) {
      for (const index of [0, 1]) {
        // The gateway starts with the secrets before this step, those of this step, or some of both.
        await Promise.all([restart(index), index === 0 ? step() : untilCalled(20)]);
      }
      await untilCalled(100);
    }
    operator.close();
    operator = new TestOperator({ ...stack, operator: { ...stack.operator, operatorToken: newToken } });
    isOver = true;
    await working;
    expect(failures).toEqual([]);
    const used = (await operator.usage(accountId))[0]?.used ?? 0;
    expect(used).toBeGreaterThanOrEqual(answered);
    expect(used).toBeLessThanOrEqual(answered + unsure);
    const fresh = await operator.createKey(accountId);
    for (const gateway of stack.gateways)
      expect((await untilAnswered(() => callerOf(gateway).brand('ZPHX', fresh.token))).status).toBe(200);
  } finally {
    isOver = true;
    await working;
    operator.close();
    await users.end();
  }
}, 480_000);
