import type { AddressInfo } from 'node:net';
import express from 'express';
import { MongoClient } from 'mongodb';

/**
 * The baseline of `usual`: one service as most teams would write it first, with Express and MongoDB. For each call it looks up
 * the token, counts the call within the limit, and reads the record. It stops there: a call that is counted may get no answer, no
 * other notation of an identifier finds the record, and answers have no ETag that the service computes, no quota headers and no
 * suggestions.
 *
 * Arguments: the URL of MongoDB, and the database. To its parent it behaves like same-answer.ts.
 */
const [mongodbUrl = '', database = ''] = process.argv.slice(2);

export interface Token {
  _id: string;
  accountId: string;
}
export interface Account {
  _id: string;
  used: number;
  allowance: number;
}
export interface Brand {
  _id: string;
  identifiers: string[];
  record: object;
}

const client = await MongoClient.connect(mongodbUrl);
const db = client.db(database);
const tokens = db.collection<Token>('tokens');
const accounts = db.collection<Account>('accounts');
const brands = db.collection<Brand>('brands');

const app = express();
app.get('/v1/brands/:identifier', async (request, response) => {
  const token = await tokens.findOne({ _id: String(request.query.token) });
  if (!token) return void response.status(401).json({ error: 'unknown token' });
  const { modifiedCount } = await accounts.updateOne(
    { _id: token.accountId, $expr: { $lt: ['$used', '$allowance'] } },
    { $inc: { used: 1 } },
  );
  if (modifiedCount === 0) return void response.status(429).json({ error: 'allowance used up' });
  const brand = await brands.findOne({ identifiers: request.params.identifier });
  if (!brand) return void response.status(404).json({ error: 'not found' });
  response.json(brand.record);
});

process.on('message', () => process.send?.(process.cpuUsage()));
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
