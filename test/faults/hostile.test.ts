import { createRandom } from '@brand-data/testing/random';
import { expect, test } from 'vitest';
import { grpcInput, grpcTargets } from './hostile-grpc.ts';
import { type HttpParts, httpInput, readAnswers } from './hostile-http.ts';

const HTTP: HttpParts = {
  servers: [{ port: 1, paths: ['/v1/brands/{identifier}', '/docs'] }],
  tokens: ['pk_secret'],
  mark: 'mark',
};
const operator = { accounts: 'a:1', catalog: 'c:1', metering: 'm:1', images: 'i:1' };
const targets = grpcTargets({
  operator: { ...operator, gateways: [], operatorToken: 'x', certificates: '' },
  targets: operator,
});
const GRPC = {
  targets,
  words: ['calls', '\0'],
  fitting: { pool: 'calls' },
  operatorToken: 'x',
  holderProof: 'y',
};

test('a seed repeats each hostile input, and another seed has others', () => {
  const made = (seed: number) =>
    Array.from({ length: 300 }, (_, number) => {
      const random = createRandom(seed + number);
      const { target, ...call } = grpcInput(random, GRPC);
      return JSON.stringify([httpInput(random, HTTP), target.path, call]);
    });
  expect(made(1)).toEqual(made(1));
  expect(made(1_000)).not.toEqual(made(1));
});

test('every method of every port is called', () => {
  const called = Array.from({ length: 5_000 }, (_, seed) => grpcInput(createRandom(seed), GRPC).target);
  expect(new Set(called).size).toBe(targets.length);
  expect(targets.every(({ address }) => address !== '')).toBe(true);
});

test.each([
  ['a defect', 'HTTP/1.1 500 Internal Server Error', 'Access-Control-Allow-Origin: *', 'undocumented 500'],
  [
    'a 503 that does not say when to come again',
    'HTTP/1.1 503 Service Unavailable',
    'Access-Control-Allow-Origin: *',
    'without Retry-After',
  ],
  ['an answer that pages cannot read', 'HTTP/1.1 404 Not Found', 'Content-Length: 0', 'without CORS'],
  [
    'an answer with a token',
    'HTTP/1.1 404 Not Found',
    'Access-Control-Allow-Origin: *\r\nX: pk_secret',
    'with a token',
  ],
  ['bytes that are no answer', 'SSH-2.0', 'x: y', 'no HTTP'],
])('%s is found behind a good answer and among others', (_what, line, headers, found) => {
  const good = 'HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nX-Quota-Charged: 1\r\n\r\n{}';
  expect(readAnswers(good, HTTP.tokens)).toEqual({ statuses: [200], charged: 1, wrong: [] });
  const bad = `${line}\r\n${headers}\r\n\r\n`;
  const { wrong } = readAnswers(line.startsWith('HTTP') ? `${good}${bad}${good}` : bad, HTTP.tokens);
  expect(wrong).toHaveLength(1);
  expect(wrong[0]).toContain(found);
});
