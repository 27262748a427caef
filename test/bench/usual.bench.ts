import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { fullStock } from '../e2e/fixtures.ts';
import { TestOperator } from '../e2e/operator.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { createTokens } from './harness/account-tokens.ts';
import { compareInTurns } from './harness/in-turns.ts';
import { linesOf, noteResult } from './harness/results.ts';
import { cpuMicrosAt, pinLoad, pinServer, type Server, startBaseline } from './harness/servers.ts';

const GOAL = 15;
const BASELINE = 'Express and MongoDB';
const CONNECTIONS = 256;

let stack: TestStack;
let operator: TestOperator;
let gateway: Server;
const database = `bench-usual-${randomUUID()}`;
const client = new MongoClient(inject('mongodbUrl'));
const lines: string[] = [];

beforeAll(async () => {
  stack = await startTestStack({ gateways: 1 });
  operator = new TestOperator(stack);
  await operator.putBrands([fullStock]);
  gateway = {
    target: stack.gateways[0]?.url ?? '',
    cpuMicros: () => cpuMicrosAt(stack.opsUrls.get('gateway-1') ?? ''),
  };
  pinServer(stack.pid('gateway-1'));
  pinLoad();
});

afterAll(async () => {
  operator?.close();
  await client.db(database).dropDatabase();
  await client.close();
  await stack?.stop();
  console.log(lines.join('\n'));
});

/** Stores what the baseline needs to give the gateway's answer to these tokens. */
async function fill(tokens: readonly string[], record: object): Promise<void> {
  const db = client.db(database);
  const accountOf = (index: number) => `account-${index}`;
  await db
    .collection<{ _id: string; accountId: string }>('tokens')
    .insertMany(tokens.map((token, index) => ({ _id: token, accountId: accountOf(index) })));
  await db
    .collection<{ _id: string; used: number; allowance: number }>('accounts')
    .insertMany(tokens.map((_, index) => ({ _id: accountOf(index), used: 0, allowance: 100_000_000 })));
  await db.collection('brands').createIndex({ identifiers: 1 });
  await db.collection('brands').insertOne({ identifiers: ['ZPHX'], record });
}

test.each([
  { name: '1,000 accounts', accounts: 1_000 },
  { name: 'one account', accounts: 1 },
])(
  'a cached answer to $name, compared with a service that reads and counts in MongoDB at each call',
  async ({ name, accounts }) => {
    await client.db(database).dropDatabase();
    const tokens = await createTokens(operator, accounts);
    const paths = tokens.map((token) => `/v1/brands/ZPHX?token=${token}`);
    const textOf = async (target: string) => (await fetch(`${target}${paths[0]}`)).text();
    const text = await textOf(gateway.target);
    await fill(tokens, JSON.parse(text));
    const usual = await startBaseline('usual.ts', [inject('mongodbUrl'), database]);
    try {
      expect(await textOf(usual.target)).toBe(text);
      const comparison = await compareInTurns(gateway, usual, { paths, connections: CONNECTIONS });
      const what = `usual, ${name}, ${CONNECTIONS} connections`;
      noteResult(`${what}, calls a second`, comparison.ratioOfCalls, { goal: GOAL, baseline: BASELINE });
      noteResult(`${what}, processor time`, comparison.ratioOfProcessorTime, {
        goal: GOAL,
        baseline: BASELINE,
      });
      lines.push(...linesOf(what, BASELINE, comparison));
    } finally {
      usual.stop();
    }
  },
  180_000,
);
