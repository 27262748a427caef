import fc from 'fast-check';
import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { ConfigError, configSpec, parseConfig } from '../src/config/config.ts';
import { KEPT, problemOfClient, problemOfMongoUrl } from '../src/config/mongo-url.ts';

/** The answer to `hello` of a member of a set of three. */
const SET = { setName: 'rs', hosts: ['a:27017', 'b:27017', 'c:27017'] };

const withOptions = (options: string) => `mongodb://me:secret@a:27017,b/brand_data?${options}`;

/** For each option: the values that a URL may give, and which of them the services accept. */
const OPTIONS: Record<string, { good?: string[]; bad?: string[] }> = {
  w: { good: ['majority'], bad: ['0', '1', '2', '3', 'Majority', 'tag'] },
  journal: { good: ['true'], bad: ['false'] },
  j: { bad: ['false'] },
  fsync: { bad: ['true', 'false'] },
  wtimeoutMS: { bad: ['0', '500'] },
  wtimeout: { bad: ['500'] },
  readConcernLevel: { good: ['majority'], bad: ['local', 'available', 'linearizable', 'snapshot'] },
  readPreference: {
    good: ['primary'],
    bad: ['primaryPreferred', 'secondary', 'secondaryPreferred', 'nearest'],
  },
  readPreferenceTags: { bad: ['dc:east'] },
  maxStalenessSeconds: { bad: ['90'] },
  retryReads: { good: ['true'], bad: ['false'] },
  retryWrites: { good: ['true'], bad: ['false'] },
  directConnection: { good: ['false'] },
  loadBalanced: { good: ['false'], bad: ['true'] },
  timeoutMS: { bad: ['1'] },
  raw: { bad: ['true'] },
  useBigInt64: { bad: ['true'] },
  promoteValues: { bad: ['false'] },
  promoteLongs: { bad: ['false'] },
  promoteBuffers: { bad: ['true'] },
  ignoreUndefined: { bad: ['false'] },
  nonsense: { bad: ['1'] },
  replicaSet: { good: ['rs0'] },
  authSource: { good: ['admin'] },
  appName: { good: ['Cluster0'] },
  tls: { good: ['true', 'false'] },
  tlsAllowInvalidCertificates: { good: ['true'] },
  compressors: { good: ['none', 'zlib'] },
  serverSelectionTimeoutMS: { good: ['60000'] },
  socketTimeoutMS: { good: ['0'] },
  heartbeatFrequencyMS: { good: ['60000'] },
  maxPoolSize: { good: ['7'] },
};

const option = fc.constantFrom(...Object.keys(OPTIONS)).chain((name) =>
  fc.record({
    name: fc.constantFrom(name, name.toLowerCase(), name.toUpperCase()),
    value: fc.constantFrom(
      ...(OPTIONS[name]?.good ?? []).map((text) => ({ text, isGood: true })),
      ...(OPTIONS[name]?.bad ?? []).map((text) => ({ text, isGood: false })),
    ),
  }),
);
const options = fc.uniqueArray(option, {
  selector: ({ name }) => name.toLowerCase().replace(/^j$/, 'journal'),
  maxLength: 8,
});
const queryOf = (chosen: readonly { name: string; value: { text: string } }[]) =>
  chosen.map(({ name, value }) => `${name}=${value.text}`).join('&');

describe('a MongoDB URL', () => {
  test('with options that weaken the promises is refused, each of them named, and its password is not shown', () => {
    fc.assert(
      fc.property(options, (chosen) => {
        const bad = chosen.filter(({ value }) => !value.isGood);
        fc.pre(bad.length > 0);
        const problem = problemOfMongoUrl(withOptions(queryOf(chosen))) ?? '';
        for (const { name } of bad) expect(problem).toContain(`leave out ${name}`);
        expect(problem).not.toMatch(/secret|nonsense=1/);
        const named = [...problem.matchAll(/leave out (\w+)/g)].map(([, name]) => name);
        expect(named.sort()).toEqual(bad.map(({ name }) => name).sort());
      }),
    );
  });

  test('that is accepted leaves the client majority reads of the primary and journaled majority writes', () => {
    fc.assert(
      fc.property(options, (chosen) => {
        const url = withOptions(queryOf(chosen.filter(({ value }) => value.isGood)));
        expect(problemOfMongoUrl(url)).toBeUndefined();
        const client = new MongoClient(url, KEPT);
        expect(problemOfClient(client, SET)).toBeUndefined();
        expect(client.options).toMatchObject({
          readConcern: { level: 'majority' },
          writeConcern: { w: 'majority', journal: true },
          readPreference: { mode: 'primary' },
          retryReads: true,
          retryWrites: true,
        });
      }),
    );
  });

  test.each([
    ['journal=false'],
    ['readConcernLevel=local'],
    ['readPreferenceTags=dc:east'],
    ['wtimeoutMS=500'],
    ['directConnection=true'],
  ])('that says %s would have won over the code, and a client that has it is told apart', (weak) => {
    expect(problemOfClient(new MongoClient(`mongodb://a/?${weak}`, KEPT), SET)).toBeDefined();
  });

  test('may lead to one member directly, as through a forwarded port, where the set has no other', () => {
    const url = 'mongodb://a/?directConnection=true';
    expect(problemOfMongoUrl(url)).toBeUndefined();
    const client = new MongoClient(url, KEPT);
    expect(problemOfClient(client, { ...SET, hosts: ['a:27017'] })).toBeUndefined();
    expect(problemOfClient(client, SET)).toContain('leave out directConnection');
    expect(problemOfClient(client, {})).toContain('not a member of a replica set');
  });

  test.each([
    ['mongodb+srv://me:p%40ss@cluster.example.com/?retryWrites=true&w=majority&appName=Cluster0'],
    ['mongodb://a/?w=majority#&w=1'],
  ])('as %s is accepted', (url) => {
    expect(problemOfMongoUrl(url)).toBeUndefined();
  });

  test.each([
    ['mongodb://me:se?cret=1@a/?w=majority'],
    ['mongodb://me:se/cret@a'],
    ['mongodb://me:se:cret@a'],
    ['mongodb://me:se#cret@a'],
    ['mongodb://me:33?secret=1@a'],
    ['mongodb://a:secret'],
    ['mongodb://a/?tls=secret'],
    ['secret'],
  ])('that cannot be read, as %s, is refused without being shown', (url) => {
    const problem = problemOfMongoUrl(url);
    expect(problem).toBeDefined();
    expect(problem).not.toMatch(/cret/);
  });

  test('is refused with all else that is wrong', () => {
    const spec = {
      MONGODB_URL: configSpec.mongodbUrl({ desc: 'MongoDB' }),
      PORT: configSpec.port({ desc: 'a port' }),
    };
    const parse = () => parseConfig({ MONGODB_URL: withOptions('w=1&journal=false'), PORT: 'no' }, spec);
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(/MONGODB_URL: leave out w, or write w=majority.*leave out journal.*PORT: /s);
  });
});
