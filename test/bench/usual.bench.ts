import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { afterAll, expect, inject, test } from 'vitest';
import { fullStock } from '../e2e/fixtures.ts';
import type { Account, Brand, Token } from './baselines/usual.ts';
import { compareInTurns } from './harness/in-turns.ts';
import { linesOf, noteResult } from './harness/results.ts';
import { startBaseline, useBench } from './harness/servers.ts';

const BASELINE = 'Express and MongoDB';
const GOAL = { goal: 15, baseline: BASELINE };
const CONNECTIONS = 256;

const bench = useBench({}, async (begun) => {
  await begun.operator.putBrands([fullStock]);
  begun.pin();
});
const database = `bench-usual-${randomUUID()}`;
const client = new MongoClient(inject('mongodbUrl'));
const db = client.db(database);

afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

/** Stores what the baseline needs to give the gateway's answer to these tokens. */
async function fill(tokens: readonly string[], record: object): Promise<void> {
  await db.dropDatabase();
  await db.collection<Token>('tokens').insertMany(tokens.map((token) => ({ _id: token, accountId: token })));
  await db
    .collection<Account>('accounts')
    .insertMany(tokens.map((token) => ({ _id: token, used: 0, allowance: 100_000_000 })));
  await db.collection<Brand>('brands').createIndex({ identifiers: 1 });
  await db.collection<Brand>('brands').insertOne({ _id: 'ZPHX', identifiers: ['ZPHX'], record });
}

test.each([
  { name: '1,000 accounts', accounts: 1_000 },
  { name: 'one account', accounts: 1 },
])(
  'a cached answer to $name, compared with a service that reads and counts in MongoDB at each call',
  async ({ name, accounts }) => {
    const { gateway, lines } = bench;
    const tokens = await bench.createTokens(accounts);
    const paths = tokens.map((token) => `/v1/brands/ZPHX?token=${token}`);
    const textOf = async (target: string) => (await fetch(`${target}${paths[0]}`)).text();
    const text = await textOf(gateway.target);
    await fill(tokens, JSON.parse(text));
    using usual = await startBaseline('usual.ts', [inject('mongodbUrl'), database]);
    expect(await textOf(usual.target)).toBe(text);
    const comparison = await compareInTurns(gateway, usual, { paths, connections: CONNECTIONS });
    const what = `usual, ${name}, ${CONNECTIONS} connections`;
    noteResult(`${what}, calls a second`, comparison.ratioOfCalls, GOAL);
    noteResult(`${what}, processor time`, comparison.ratioOfProcessorTime, GOAL);
    lines.push(...linesOf(what, BASELINE, comparison));
  },
  180_000,
);
