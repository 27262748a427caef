import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { copyFiles, FetchProblem, fetchFile, Requests, sizeOf } from '../src/index.ts';

const DATA = Buffer.from(Array.from({ length: 5_000 }, (_, row) => `${row},Acme ${row}\n`).join(''));
const ETAG = '"one"';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that answers the requests in order with these handlers, the last for all further ones, and a folder to fetch into. */
async function startServer(...handlers: Handler[]) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const handler = handlers[Math.min(requests.push(request), handlers.length) - 1];
    handler?.(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = await temporaryFolder();
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const path = join(folder, 'list.csv');
  const waits: number[] = [];
  const sleep = (async (ms: number, ...rest: [undefined, { signal: AbortSignal }]) => {
    waits.push(ms);
    await setTimeout(0, ...rest);
  }) as typeof setTimeout;
  const fetchIt = (more: { checksum?: string; mostBytes?: number; signal?: AbortSignal } = {}) =>
    fetchFile(
      new Requests('test (ops@example.com)', 1_000, sleep),
      { url: `${origin}/list.csv?secret=1`, path, checksum: more.checksum },
      {
        mostBytes: more.mostBytes ?? 1e9,
        signal: more.signal ?? new AbortController().signal,
        progress: { read: 0, total: 0 },
      },
    );
  const text = () => readFile(path, 'utf8').catch(() => undefined);
  return { origin, requests, folder, path, fetchIt, waits, text };
}

const whole: Handler = (_, response) =>
  response.writeHead(200, { etag: ETAG, 'content-length': DATA.length }).end(DATA);

/** Answers as a server that knows ranges and validators. */
const wellBehaved: Handler = (request, response) => {
  const { range, 'if-range': since, 'if-none-match': known } = request.headers;
  const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
  if (known === ETAG) response.writeHead(304).end();
  else if (start > 0 && since === ETAG)
    response
      .writeHead(206, { etag: ETAG, 'content-range': `bytes ${start}-${DATA.length - 1}/${DATA.length}` })
      .end(DATA.subarray(start));
  else whole(request, response);
};

const answer =
  (status: number, headers: Record<string, string | number> = {}, body: string | Buffer = ''): Handler =>
  (_, response) => {
    response.writeHead(status, headers).end(body);
  };

test('a file is fetched once, and asked for with its ETag until it changes', async () => {
  const { fetchIt, text, requests } = await startServer(wellBehaved);
  const digest = hash('sha256', DATA);
  expect(await fetchIt()).toBe(digest);
  expect(await fetchIt()).toBe(digest);
  expect(await text()).toBe(DATA.toString());
  expect(requests).toHaveLength(2);
  expect(requests[0]?.headers).toMatchObject({ 'user-agent': 'test (ops@example.com)' });
  expect(requests[1]?.headers).toMatchObject({ 'if-none-match': ETAG });
});

test('a file that somebody else changed or removed is fetched again, whatever the server says of its version', async () => {
  const { fetchIt, text, path } = await startServer(wellBehaved);
  for (const spoil of [() => writeFile(path, 'half'), () => rm(path), () => rm(`${path}.state.json`)]) {
    await fetchIt();
    await spoil();
    await fetchIt();
    expect(await text()).toBe(DATA.toString());
  }
});

test('wherever a connection breaks off, the fetch goes on there, in the same run or in a later one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: DATA.length - 1 }), { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      async (places, isKilled) => {
        const cuts = places
          .sort((a, b) => a - b)
          .map((place): Handler => {
            return (request, response) => {
              const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
              const headers = { etag: ETAG, 'content-length': DATA.length - start };
              if (start > 0)
                response.writeHead(206, {
                  ...headers,
                  'content-range': `bytes ${start}-${DATA.length - 1}/${DATA.length}`,
                });
              else response.writeHead(200, headers);
              response.write(DATA.subarray(start, Math.max(start, place)), () => response.destroy());
              if (isKilled) killed.abort(new Error('killed'));
            };
          });
        let killed = new AbortController();
        const { fetchIt, text } = await startServer(...cuts, wellBehaved);
        for (let run = 0; ; run++) {
          killed = new AbortController();
          const error = await fetchIt({ signal: killed.signal }).then(
            () => undefined,
            (reason: Error) => reason,
          );
          if (error === undefined) break;
          expect(error.message).toBe('killed');
          expect(await text()).toBe(undefined);
          expect(run).toBeLessThan(cuts.length);
        }
        expect(await text()).toBe(DATA.toString());
      },
    ),
    { numRuns: 10 },
  );
});

test('a file that changes on the server while it is fetched never has parts of two versions', async () => {
  const newer = Buffer.from(DATA.toString().replaceAll('Acme', 'Umbr'));
  const { fetchIt, text, requests, path } = await startServer(
    (_, response) => {
      response.writeHead(200, { etag: ETAG, 'content-length': DATA.length });
      response.write(DATA.subarray(0, 30_000));
    },
    answer(200, { etag: '"two"', 'content-length': newer.length }, newer),
  );
  const killed = new AbortController();
  const first = fetchIt({ signal: killed.signal }).catch((reason: Error) => reason.message);
  await vi.waitUntil(async () => (await sizeOf([`${path}.part`]).catch(() => 0)) === 30_000, {
    timeout: 60_000,
  });
  killed.abort(new Error('killed'));
  expect(await first).toBe('killed');
  await fetchIt();
  expect(requests[1]?.headers).toMatchObject({ range: 'bytes=30000-', 'if-range': ETAG });
  expect(await text()).toBe(newer.toString());
});

test('a rest of another version than it was asked for never follows the beginning of a file', async () => {
  const newer = Buffer.from(DATA.toString().replaceAll('Acme', 'Umbr'));
  const begin: Handler = (_, response) => {
    response.writeHead(200, { etag: ETAG, 'content-length': DATA.length });
    response.write(DATA.subarray(0, 30_000), () => response.destroy());
  };
  const range = { 'content-range': `bytes 30000-${DATA.length - 1}/${DATA.length}` };
  const rest = answer(206, { ...range, etag: '"two"' }, newer.subarray(30_000));
  const { fetchIt, text } = await startServer(
    begin,
    rest,
    answer(200, { etag: '"two"', 'content-length': newer.length }, newer),
  );
  await fetchIt();
  expect(await text()).toBe(newer.toString());
});

test('a server without versions is asked for the whole file again', async () => {
  const { fetchIt, text, requests } = await startServer(
    (_, response) => {
      response.writeHead(200, { 'content-length': DATA.length });
      response.write(DATA.subarray(0, 1_000), () => response.destroy());
    },
    answer(200, { etag: 'W/"weak"' }, DATA),
  );
  await fetchIt();
  expect(requests[1]?.headers.range).toBe(undefined);
  expect(await text()).toBe(DATA.toString());
});

test('a file that the server compresses, unasked, arrives as it is, and is begun again after a break', async () => {
  const sent = gzipSync(DATA);
  const headers = { etag: ETAG, 'content-encoding': 'gzip', 'content-length': sent.length };
  const { fetchIt, text, requests } = await startServer(
    (_, response) => {
      response.writeHead(200, headers);
      response.write(sent.subarray(0, sent.length / 2), () => response.destroy());
    },
    answer(200, headers, sent),
    answer(304),
  );
  const digest = await fetchIt();
  expect(await fetchIt()).toBe(digest);
  expect(requests[1]?.headers.range).toBe(undefined);
  expect(requests[2]?.headers).toMatchObject({ 'if-none-match': ETAG });
  expect(await text()).toBe(DATA.toString());
});

test('an answer that does not fit the request is dropped, and the server asked again', async () => {
  const { fetchIt, text } = await startServer(
    (_, response) => {
      response.writeHead(200, { 'content-length': DATA.length });
      response.write(DATA.subarray(0, 1), () => response.destroy());
    },
    answer(206, { 'content-range': 'bytes 7-8/9' }, 'ab'),
    answer(304),
    answer(416),
    whole,
  );
  await fetchIt();
  expect(await text()).toBe(DATA.toString());
});

test('a server that is busy is asked again, no sooner than it says', async () => {
  const busy = answer(429, { 'retry-after': '3600' });
  const { fetchIt, text, waits } = await startServer(answer(503), busy, whole);
  await fetchIt();
  expect(waits).toContain(3_600_000);
  expect(await text()).toBe(DATA.toString());
});

const PAGE = '<!DOCTYPE html><title>Maintenance</title>';
const published =
  (digest: string): Handler =>
  (request, response) =>
    request.url === '/sums'
      ? response.writeHead(200).end(`${digest}  list.csv\n${'0'.repeat(digest.length)}  other.csv\n`)
      : whole(request, response);

test.each([
  [
    'a page that says so',
    [answer(200, { 'content-type': 'text/html' }, PAGE)],
    /a page \(HTML\) in place of data/,
  ],
  ['a page that pretends to be data', [answer(200, { 'content-type': 'text/csv' }, PAGE)], /a page \(HTML\)/],
  ['nothing', [answer(200)], /sends nothing/],
  ['a wrong address', [answer(404)], /status 404/],
  ['a publisher that wants to know who asks', [answer(403)], /check the contact/],
  ['a redirect off HTTPS', [answer(302, { location: 'http://example.com/list.csv' })], /no https address/],
  ['a redirect to a file', [answer(302, { location: 'file:///etc/passwd' })], /no https address/],
  [
    'a redirect with a password',
    [answer(302, { location: 'https://a:secret@example.com/' })],
    /a user name or a password/,
  ],
  ['a redirect without an end', [answer(302, { location: '/list.csv' })], /redirects more than 5 times/],
  ['too large a file', [answer(200, { 'content-length': 2_000_000_000 })], /more than 1,000,000,000 bytes/],
] as const)(
  'after %s, the earlier file is as it was, and the reason names no query of a URL',
  async (_, bad, message) => {
    let handlers: readonly Handler[] = [whole];
    const { fetchIt, text, path } = await startServer((...all) => handlers[0]?.(...all));
    await fetchIt();
    // Without its ETag, so that the server has to send the file.
    const state = JSON.parse(await readFile(`${path}.state.json`, 'utf8'));
    await writeFile(`${path}.state.json`, JSON.stringify({ ...state, etag: undefined, digest: undefined }));
    handlers = bad;
    const error = await fetchIt().catch((reason: Error) => reason);
    expect(error).toBeInstanceOf(FetchProblem);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toContain('secret');
    expect(await text()).toBe(DATA.toString());
  },
  30_000,
);

test('a file without an end is given up at its bound, though no length was told', async () => {
  const { fetchIt, text, folder } = await startServer((_, response) => {
    const more = () => response.write(DATA, () => response.destroyed || more());
    more();
  });
  await expect(fetchIt({ mostBytes: 1_000_000 })).rejects.toThrow(/more than 1,000,000 bytes/);
  expect(await text()).toBe(undefined);
  expect(await readdir(folder)).toEqual([]);
});

test('a server that falls silent is left when the time is over, and what arrived is kept', async () => {
  const deadline = new AbortController();
  const { fetchIt, text, requests } = await startServer((_, response) => {
    response.writeHead(200, { etag: ETAG, 'content-length': DATA.length });
    response.write(DATA.subarray(0, 40_000));
    setImmediate(() => deadline.abort(new Error('the time is over')));
  }, wellBehaved);
  await expect(fetchIt({ signal: deadline.signal })).rejects.toThrow('the time is over');
  expect(await text()).toBe(undefined);
  await fetchIt();
  expect(await text()).toBe(DATA.toString());
  expect(requests).toHaveLength(2);
});

test.each(['md5', 'sha1', 'sha256', 'sha512'])(
  'a file is taken only if it has the %s that is published',
  async (algorithm) => {
    const right = await startServer(published(hash(algorithm, DATA)));
    await right.fetchIt({ checksum: `${right.origin}/sums` });
    expect(await right.text()).toBe(DATA.toString());
    const wrong = await startServer(published(hash(algorithm, 'other')));
    await expect(wrong.fetchIt({ checksum: `${wrong.origin}/sums` })).rejects.toThrow(/its publisher states/);
    expect(await readdir(wrong.folder)).toEqual([]);
  },
);

test('a folder is copied as a whole or not at all, and only if it has changed', async () => {
  const { folder } = await startServer();
  const [from, to] = [join(folder, 'original'), join(folder, 'copy')];
  await mkdir(join(from, 'sub'), { recursive: true });
  await writeFile(join(from, 'sub', 'a.csv'), 'one');
  const copy = () => copyFiles(from, to, { mostBytes: 1_000, signal: new AbortController().signal });
  const first = await copy();
  expect(await copy()).toBe(first);
  await writeFile(join(from, 'sub', 'a.csv'), 'two');
  await utimes(join(from, 'sub', 'a.csv'), 1, 1);
  expect(await copy()).not.toBe(first);
  expect(await readFile(join(to, 'sub', 'a.csv'), 'utf8')).toBe('two');
  await writeFile(join(from, 'b.csv'), 'x'.repeat(2_000));
  await expect(copy()).rejects.toThrow(/more than 1,000 bytes/);
  expect(await readFile(join(to, 'sub', 'a.csv'), 'utf8')).toBe('two');
});
