import type { AddressInfo } from 'node:net';
import type { AccountsServiceClient, BlockedNetwork } from '@brand-data/contracts';
import { createLogger, Fault, type Logger } from '@brand-data/runtime';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BlockedAddresses, followBlocks } from '../src/admission/blocked-addresses.ts';
import { createPublicApi } from './public-api.ts';
import { manualClock, unaryMethod } from './stand-ins.ts';

const refuses = (blocked: BlockedAddresses, ip: string) => blocked.refusalOf({ ip }) !== undefined;
const startMs = manualClock().now().wallMs;

describe('blocked networks', () => {
  /** The bits of an address, as text, and its usual spellings. */
  const ipv4 = fc.array(fc.constantFrom(0, 1, 128, 255), { minLength: 4, maxLength: 4 }).map((bytes) => ({
    bits: bytes.map((byte) => byte.toString(2).padStart(8, '0')).join(''),
    spellings: [
      bytes.join('.'),
      `::ffff:${bytes.join('.')}`,
      `::FFFF:${Buffer.from(bytes)
        .toString('hex')
        .replace(/(?=.{4}$)/, ':')}`,
    ],
  }));
  const ipv6 = fc
    .array(fc.constantFrom(0, 1, 0x8000, 0xffff), { minLength: 8, maxLength: 8 })
    .map((groups) => {
      const words = [0x2001, ...groups.slice(1)];
      return {
        bits: words.map((word) => word.toString(2).padStart(16, '0')).join(''),
        spellings: [
          words.map((word) => word.toString(16)).join(':'),
          words.map((word) => word.toString(16).toUpperCase().padStart(4, '0')).join(':'),
          new URL(`http://[${words.map((word) => word.toString(16)).join(':')}]`).hostname.slice(1, -1),
        ],
      };
    });
  const address = fc.oneof(ipv4, ipv6);

  test('cover exactly the addresses that begin with their bits, however IPv4 and IPv6 are written', () => {
    const network = fc
      .tuple(address, fc.double({ min: 0.2, max: 1, noNaN: true }))
      .map(([{ bits, spellings }, part]) => {
        const length = Math.round(bits.length * part);
        return { family: bits.length, prefix: bits.slice(0, length), text: `${spellings[0]}/${length}` };
      });
    fc.assert(
      fc.property(
        fc.array(network, { maxLength: 20 }),
        fc.array(address, { minLength: 1, maxLength: 20 }),
        (networks, addresses) => {
          const blocked = new BlockedAddresses(manualClock());
          blocked.replace(networks.map(({ text }) => ({ network: text, expiresAtMs: startMs + 1_000 })));
          for (const { bits, spellings } of addresses) {
            const isCovered = networks.some(
              ({ family, prefix }) => family === bits.length && bits.startsWith(prefix),
            );
            for (const ip of spellings) expect([ip, refuses(blocked, ip)]).toEqual([ip, isCovered]);
          }
        },
      ),
    );
  });

  test('refuse until they expire, each at its own time, and no longer', () => {
    const expiries = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(expiries, (seconds) => {
        const clock = manualClock();
        const blocked = new BlockedAddresses(clock);
        blocked.replace(
          seconds.map((each, at) => ({ network: `192.0.2.${at}`, expiresAtMs: startMs + each * 1_000 })),
        );
        for (let now = 0; now <= 100; now++) {
          const refused = seconds.map((_, at) => refuses(blocked, `192.0.2.${at}`));
          expect(refused).toEqual(seconds.map((each) => now < each));
          clock.advance(1_000);
        }
      }),
      { numRuns: 20 },
    );
  });

  test('cost nothing without a block: the address is not even read', () => {
    const blocked = new BlockedAddresses(manualClock());
    const client = {
      get ip(): string {
        throw new Error('it was read');
      },
    };
    expect(blocked.refusalOf(client)).toBeUndefined();
    blocked.replace([{ network: '192.0.2.7', expiresAtMs: startMs + 1 }]);
    expect(() => blocked.refusalOf(client)).toThrow('it was read');
    blocked.replace([]);
    expect(blocked.refusalOf(client)).toBeUndefined();
  });

  test.each(['unknown', '_hidden', '', '192.0.2', '192.0.2.7.', 'x'.repeat(10_000)])(
    'never cover what a proxy names in place of an address: %s',
    (ip) => {
      const blocked = new BlockedAddresses(manualClock());
      blocked.replace([{ network: '192.0.2.0/24', expiresAtMs: startMs + 1 }]);
      expect(refuses(blocked, ip)).toBe(false);
    },
  );
});

describe('a blocked client', () => {
  const api = createPublicApi({ trustedProxies: ['127.0.0.1'], blocked: ['192.0.2.0/24', '2001:db8::/32'] });
  let url: string;
  beforeAll(async () => {
    url = `http://127.0.0.1:${await api.listen()}`;
  });
  afterAll(api.close);
  const call = (path: string, forwarded: string, method = 'GET') =>
    fetch(`${url}${path}`, { method, headers: { 'x-forwarded-for': forwarded } });

  test.each([
    ['GET', '/v1/brands/Acme?token=good'],
    ['HEAD', '/api/logos/Acme/info?token=good'],
    ['GET', '/v1/search?token=good&q=a'],
    ['GET', '/v1/usage?token=good'],
    ['GET', '/v1/brands/Acme'],
    ['GET', '/openapi.json'],
    ['GET', '/docs/errors'],
    ['OPTIONS', '/v1/brands/Acme'],
    ['POST', '/v1/brands/Acme'],
    ['GET', '/nowhere'],
  ])('gets 403 address_blocked to %s %s, and nothing is counted or looked up', async (method, path) => {
    const answer = await call(path, '192.0.2.7', method);
    expect(answer.status).toBe(403);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    if (method !== 'HEAD')
      expect(await answer.json()).toMatchObject({ code: 'address_blocked', status: 403 });
    expect([api.permits, api.lookedUp]).toEqual([[], []]);
  });

  test.each([
    ['2001:db8:1::7', 403],
    ['2001:0DB8:0000::1', 403],
    ['::ffff:192.0.2.7', 403],
    ['198.51.100.1, 192.0.2.7', 403],
    ['192.0.2.7, 198.51.100.1', 404],
    ['2001:db9::1', 404],
    ['192.0.2.7:41234', 403],
    ['[2001:db8::1]:443', 403],
    ['192.0.2.7, 127.0.0.1:3128', 403],
    ['unknown', 404],
  ])('is the one that the trusted proxy names last: %s gets %i', async (forwarded, status) => {
    expect((await call('/nowhere', forwarded)).status).toBe(status);
  });
});

test('a client cannot shed its address by a header, without a trusted proxy', async () => {
  const api = createPublicApi({ blocked: ['127.0.0.1'] });
  const url = `http://127.0.0.1:${await api.listen()}`;
  const headers = {
    'x-forwarded-for': '198.51.100.1',
    'x-real-ip': '198.51.100.1',
    forwarded: 'for=198.51.100.1',
  };
  expect((await fetch(`${url}/nowhere`, { headers })).status).toBe(403);
  await api.close();
});

describe('on a socket for IPv6 and IPv4', () => {
  const BLOCKED = ['::1', '127.0.0.1'];
  /** Returns the status of each of the two addresses of this machine, and the clients that the access log names. */
  async function callsOfBoth(options: Parameters<typeof createPublicApi>[0], headers = {}) {
    const clients: unknown[] = [];
    const info = (line: { client?: unknown }) => clients.push(line.client);
    const log = { ...createLogger('test', 'silent'), child: () => ({ info }) } as unknown as Logger;
    const api = createPublicApi({ log, accessLog: 'address', ...options });
    await api.app.listen({ host: '::', port: 0 });
    const { port } = api.app.server.address() as AddressInfo;
    const statuses = [];
    for (const host of ['[::1]', '127.0.0.1'])
      statuses.push((await fetch(`http://${host}:${port}/v1/brands/Acme?token=good`, { headers })).status);
    await api.close();
    return { statuses, clients };
  }

  test('both are named as they are written elsewhere, and each is blocked alone', async () => {
    expect(await callsOfBoth({})).toEqual({ statuses: [200, 200], clients: BLOCKED });
    for (const blocked of BLOCKED)
      expect((await callsOfBoth({ blocked: [blocked] })).statuses).toEqual(
        BLOCKED.map((each) => (each === blocked ? 403 : 200)),
      );
  });

  test.each([
    [['127.0.0.0/8'], ['::1', '2001:db8::7']],
    [['::1'], ['2001:db8::7', '127.0.0.1']],
    [
      ['::/0', '0.0.0.0/0'],
      ['2001:db8::7', '2001:db8::7'],
    ],
  ])('the trusted proxies %s name the client, and nobody else does', async (trustedProxies, clients) => {
    const headers = { 'x-forwarded-for': '2001:db8::7' };
    expect((await callsOfBoth({ trustedProxies }, headers)).clients).toEqual(clients);
  });
});

describe('the list at accounts', () => {
  /** A stand-in for accounts, whose answers wait for the test. */
  function accountsThatWait() {
    const asked: { answer: (networks: BlockedNetwork[]) => void; fail: () => void }[] = [];
    const listBlockedNetworks = unaryMethod(
      () =>
        new Promise<{ networks: BlockedNetwork[] }>((resolve, reject) =>
          asked.push({
            answer: (networks) => resolve({ networks }),
            fail: () => reject(new Fault('unavailable', 'away')),
          }),
        ),
    );
    return { asked, client: { listBlockedNetworks } as unknown as AccountsServiceClient };
  }
  const service = () => {
    const stops: (() => unknown)[] = [];
    const log = createLogger('test', 'silent');
    return {
      log,
      metrics: new Registry(),
      onStop: (_: string, stop: () => unknown) => stops.push(stop),
      stops,
    };
  };
  const of = (network: string): BlockedNetwork[] => [{ network, expiresAtMs: startMs + 1_000 }];

  test('is read again after a change that arrives during a read, and is kept while accounts does not answer', async () => {
    const blocked = new BlockedAddresses(manualClock());
    const { asked, client } = accountsThatWait();
    const { stops, ...parts } = service();
    const started = followBlocks(parts, client, blocked);
    await expect.poll(() => asked.length).toBe(1);
    asked[0]?.answer(of('192.0.2.1'));
    const changed = await started;
    expect(refuses(blocked, '192.0.2.1')).toBe(true);

    const first = changed();
    await expect.poll(() => asked.length).toBe(2);
    const second = changed();
    expect(changed()).toBe(second);
    asked[1]?.answer(of('192.0.2.2'));
    await first;
    expect(refuses(blocked, '192.0.2.2')).toBe(true);
    await expect.poll(() => asked.length).toBe(3);
    asked[2]?.fail();
    await second;
    expect(refuses(blocked, '192.0.2.2')).toBe(true);
    expect(await parts.metrics.metrics()).toMatch(/^gateway_blocked_requests_total 3$/m);
    for (const stop of stops) stop();
  });

  test('does not hold up the start of a gateway if accounts does not answer', async () => {
    const { asked, client } = accountsThatWait();
    const { stops, ...parts } = service();
    const started = followBlocks(parts, client, new BlockedAddresses(manualClock()));
    await expect.poll(() => asked.length).toBe(1);
    asked[0]?.fail();
    await started;
    for (const stop of stops) stop();
  });
});
