import { request } from 'node:http';
import { FILES, versioned } from '@brand-data/client/files';
import { startWebServer, type WebServer } from '@brand-data/testing/web-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';

let stack: TestStack;
let url: string;

beforeAll(async () => {
  stack = await startTestStack({ gateways: 1 });
  url = stack.gateways[0]?.url ?? '';
});
afterAll(() => stack?.stop());

const PREFIX = '/brand-data';

/** Serves the gateway below PREFIX, as a reverse proxy that strips it. */
function startProxy(): Promise<WebServer> {
  return startWebServer((incoming, outgoing) => {
    if (!incoming.url?.startsWith(`${PREFIX}/`)) {
      outgoing.writeHead(404).end();
      return;
    }
    const { method, headers } = incoming;
    const target = new URL(incoming.url.slice(PREFIX.length), url);
    const onward = request(target, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    onward.end();
  });
}

const linksIn = (html: string) =>
  [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'));
const idsIn = (html: string) => new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));

describe('behind a proxy that serves the gateway below a path prefix', () => {
  let proxy: WebServer;
  let root: string;
  const visited = new Map<string, string>();

  beforeAll(async () => {
    proxy = await startProxy();
    const { url: origin } = proxy;
    root = `${origin}${PREFIX}/`;
    const found = [root];
    for (const address of found) {
      const answer = await fetch(address);
      const isPage = answer.headers.get('content-type')?.startsWith('text/html');
      visited.set(address, answer.ok ? await answer.text() : '');
      if (!isPage) continue;
      const links = linksIn(visited.get(address) ?? '').map((link) => new URL(link, answer.url));
      for (const { href, hash } of links) {
        const page = href.slice(0, href.length - hash.length);
        if (page.startsWith(origin) && !found.includes(page)) found.push(page);
      }
    }
  });
  afterAll(() => proxy?.stop());

  test('the root leads to the docs, and every link on every page to a page, a file or a section that is there', () => {
    const missing = [...visited].filter(([, text]) => text === '').map(([address]) => address);
    expect(missing).toEqual([]);
    const broken = [...visited].flatMap(([address, html]) => {
      if (!html.startsWith('<!doctype html>')) return [];
      const base = address === root ? new URL('docs', root) : address;
      return linksIn(html)
        .map((link) => new URL(link, base))
        .filter(({ href, hash }) => hash !== '' && href.startsWith(root))
        .filter(({ href, hash }) => {
          const page = visited.get(href.slice(0, -hash.length)) ?? '';
          const isPlayground = href.startsWith(`${root}playground#`);
          return !isPlayground && !idsIn(page).has(decodeURIComponent(hash.slice(1)));
        })
        .map(({ href }) => `${address}: ${href}`);
    });
    expect(broken).toEqual([]);
    expect(visited.size).toBeGreaterThan(12);
  });

  test('the pages show the address of this service, and not that of an example', () => {
    const examples = [...visited].filter(([, text]) =>
      text.replaceAll(/<[^>]*>/g, '').includes('api.example.com'),
    );
    expect(examples.map(([address]) => address)).toEqual([]);
  });

  test('a page whose address ends with a slash leads to the page', async () => {
    for (const path of ['docs', 'docs/errors', 'playground']) {
      const answer = await fetch(`${root}${path}/`);
      expect([answer.status, answer.url]).toEqual([200, `${root}${path}`]);
    }
  });

  test('a browser at a mistyped address gets a page that leads on, and a program gets a problem', async () => {
    for (const path of ['dosc', 'docs/erors', 'docs/errors/all/of/them']) {
      const page = await fetch(`${root}${path}`, { headers: { accept: 'text/html,*/*;q=0.8' } });
      const body = await page.text();
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      const links = linksIn(body).filter((link) => !link.startsWith('#'));
      expect(links.length).toBeGreaterThan(9);
      for (const link of links) expect([...visited.keys()]).toContain(new URL(link, page.url).href);
      const problem = await fetch(`${root}${path}`);
      expect([problem.status, await problem.json()]).toMatchObject([404, { code: 'route_not_found' }]);
    }
    const deep = await fetch(`${root}${'a/'.repeat(4_000)}`, { headers: { accept: 'text/html' } });
    expect((await deep.text()).length).toBeLessThan(5_000);
  });

  test('llms.txt names pages to which the links of the docs lead', async () => {
    const llms = await (await fetch(`${root}llms.txt`)).text();
    const pages = [...llms.matchAll(/\]\(([^)]+)\)/g)].map(([, page = '']) => new URL(page, root).href);
    expect(pages).toContain(`${root}docs/errors.md`);
    for (const page of pages) expect([...visited.keys()]).toContain(page);
  });

  test('each page of the docs is there in Markdown, whose links lead to pages', async () => {
    const pages = [...visited.keys()].filter((address) => /\/docs(\/[\w-]+)?$/.test(address));
    expect(pages.length).toBeGreaterThan(8);
    for (const page of pages) {
      const answer = await fetch(`${page}.md`);
      const markdown = await answer.text();
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        'text/markdown; charset=utf-8',
      ]);
      expect(markdown).toMatch(/^# /);
      const prose = markdown.replaceAll(/^```.*?^```$/gms, '');
      expect(prose).not.toMatch(/<!--|api\.example\.com|<\/?(p|code|div|dl)\b/);
      const broken = [...prose.matchAll(/\]\(([^)\s#]+)/g)]
        .map(([, link = '']) => new URL(link, `${page}.md`).href)
        .filter((link) => link.startsWith(root) && !link.startsWith(`${root}api/`) && !visited.has(link));
      expect(broken).toEqual([]);
    }
  });

  test('the search knows every page of the docs, every error and every schema, and where they are', async () => {
    const sections = (await (await fetch(`${root}docs/sections.json`)).json()) as {
      path: string;
      text: string;
    }[];
    const known = new Set(sections.map(({ path }) => path));
    for (const path of known) {
      const { href, hash } = new URL(path, root);
      const page = visited.get(href.slice(0, href.length - hash.length)) ?? '';
      expect([path, page !== '' && (hash === '' || idsIn(page).has(hash.slice(1)))]).toEqual([path, true]);
    }
    const headings = [...visited].flatMap(([address, html]) => {
      const ids = html.matchAll(/<h[23] id="([^"]+)"/g);
      return [...ids].map(([, id]) => `${address.slice(root.length)}#${id}`);
    });
    const sought = headings.filter((heading) => heading.startsWith('docs'));
    expect(sought.length).toBeGreaterThan(100);
    expect(sought.filter((heading) => !known.has(heading))).toEqual([]);
    expect(sections.find(({ path }) => path === 'docs/reference#schema-Transport')?.text).toContain(
      'fleet_size',
    );
  });
});

test('the page of the reference has every operation, status, header and field of the OpenAPI document', async () => {
  const html = await (await fetch(`${url}/docs/reference`)).text();
  const ids = idsIn(html);
  const { paths, components } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, { get: { operationId: string; responses: object } }>;
    components: { headers: object; schemas: Record<string, { properties?: object }> };
  };
  const operations = Object.values(paths).flatMap(({ get }) => [
    get.operationId,
    ...Object.keys(get.responses).map((status) => `${get.operationId}-${status}`),
  ]);
  const headers = Object.keys(components.headers).map((name) => `header-${name}`);
  const schemas = Object.keys(components.schemas).map((name) => `schema-${name}`);
  const expected = [...operations, ...headers, ...schemas];
  expect(expected.length).toBeGreaterThan(60);
  expect(expected.filter((id) => !ids.has(id))).toEqual([]);
  for (const [name, { properties = {} }] of Object.entries(components.schemas)) {
    const section = html.split(`id="schema-${name}"`)[1]?.split('<section')[0] ?? '';
    for (const field of Object.keys(properties)) expect(section).toContain(`<dt><code>${field}</code> `);
  }
});

test('each command of the reference is a call with all that it needs', async () => {
  const reference = await (await fetch(`${url}/docs/reference.md`)).text();
  const calls = [...reference.matchAll(/^curl "([^"]+)"$/gm)].map(([, call = '']) => call);
  expect(calls.length).toBeGreaterThan(6);
  // The token of the examples is of no account, and whatever else was missing would be a 400.
  const answers = await Promise.all(calls.map(async (call) => [call, (await fetch(call)).status]));
  expect(answers.filter(([, status]) => status !== 200 && status !== 401)).toEqual([]);
});

test('every page has one main heading, its language, and a link past the navigation', async () => {
  for (const path of ['/docs', '/docs/identifiers', '/docs/errors', '/docs/reference', '/playground']) {
    const html = await (await fetch(`${url}${path}`)).text();
    expect([path, html.match(/<h1>/g)?.length]).toEqual([path, 1]);
    expect(html).toContain('<html lang="en">');
    expect(html).toMatch(/<a class="skip" href="#[\w-]+">/);
    expect(html).not.toMatch(/<script>|<style>| style="| on\w+="/);
  }
});

test('search engines find every page and no record, and the address of an icon has one', async () => {
  const robots = await (await fetch(`${url}/robots.txt`)).text();
  expect(robots).toContain('Disallow: /v1/\nDisallow: /api/\n');
  const [, map = ''] = /^Sitemap: (\S+)$/m.exec(robots) ?? [];
  const listed = [...(await (await fetch(map)).text()).matchAll(/<loc>([^<]+)<\/loc>/g)].map(
    ([, page]) => page,
  );
  expect(listed).toEqual(
    expect.arrayContaining(['/docs', '/docs/errors', '/playground'].map((path) => url + path)),
  );
  for (const page of listed) expect([page, (await fetch(page ?? '')).status]).toEqual([page, 200]);
  const icon = await fetch(`${url}/favicon.ico`);
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
});

test.each(FILES)(
  'a gateway serves %s to pages of any origin and to programs, for ever under its version',
  async (name) => {
    for (const [path, caching] of [
      [name, 'public, max-age=300'],
      // A build of a version that is not released yet has no file that never changes.
      [
        versioned(name),
        /\.\d/.test(versioned(name)) ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
      ],
    ]) {
      const { status, headers } = await fetch(`${url}/${path}`);
      expect([path, status]).toEqual([path, 200]);
      const isScript = name.endsWith('.js');
      expect(headers.get('content-type')).toBe(
        isScript ? 'text/javascript; charset=utf-8' : 'application/gzip',
      );
      expect(headers.has('content-encoding')).toBe(isScript);
      expect(headers.get('cache-control')).toBe(caching);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
      const again = await fetch(`${url}/${path}`, {
        headers: { 'if-none-match': headers.get('etag') ?? '' },
      });
      expect(again.status).toBe(304);
    }
  },
);

test('the type of an error leads to its entry on the page of errors', async () => {
  const { type } = (await (await fetch(`${url}/v1/brands/AAPL`)).json()) as { type: string };
  expect(type).toBe(`${url}/docs/errors#token_missing`);
  expect(await (await fetch(type)).text()).toContain('id="token_missing"');
});
