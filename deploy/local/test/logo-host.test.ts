import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../test/stack/temporary-folder.ts';
import { startLogoHost } from '../src/logo-host.ts';
import { freePort } from '../src/ports.ts';

async function logoHost() {
  const parent = await temporaryFolder();
  const folder = join(parent, 'images');
  await mkdir(join(folder, 'banners'), { recursive: true });
  await writeFile(join(folder, 'banners/one.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await writeFile(join(folder, '.imported.json'), '{}');
  await writeFile(join(parent, 'secret.svg'), 'secret');
  const port = await freePort();
  const host = await startLogoHost({ folder, port });
  onTestFinished(() => host.stop());
  return { url: host.url, port };
}

test('an image is served with its type, to pages of any origin, and may be cached forever', async () => {
  const { url } = await logoHost();
  for (const method of ['GET', 'HEAD']) {
    const response = await fetch(`${url}/banners/one.svg`, { method });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/svg+xml',
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': '41',
    });
    expect(await response.text()).toBe(method === 'GET' ? '<svg xmlns="http://www.w3.org/2000/svg"/>' : '');
  }
});

test.for([
  '/../secret.svg',
  '/%2e%2e/secret.svg',
  '/banners/..%2f..%2fsecret.svg',
  '//secret.svg',
  '/.imported.json',
  '/banners',
  '/banners/two.svg',
  '/%00.svg',
  '/%zz.svg',
])('nothing but the images is served: %s is not found', async (path) => {
  const { port } = await logoHost();
  // The test sends the path as it is: fetch would remove the dots.
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    });
    let text = '';
    socket.on('data', (data) => {
      text += data.toString();
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
  expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  expect(answer).not.toContain('secret');
});

test('it refuses every method except GET and HEAD', async () => {
  const { url } = await logoHost();
  expect((await fetch(`${url}/banners/one.svg`, { method: 'DELETE' })).status).toBe(405);
});
