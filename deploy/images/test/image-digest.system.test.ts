import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { startWebServer } from '@brand-data/testing/web-server';
import { expect, onTestFinished, test } from 'vitest';
import { digestOf, readReference } from '../image-digest.ts';
import { dockerfile, ROOT } from './versions.ts';

const MANIFEST = '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json"}';
const DIGEST = `sha256:${createHash('sha256').update(MANIFEST).digest('hex')}`;

/** Returns the address of a registry that gives its manifest only for the token that it gives to anyone. */
async function registry(named = DIGEST): Promise<string> {
  const answer: RequestListener = (request, response) => {
    const { host = '' } = request.headers;
    if (request.url?.startsWith('/token?')) {
      const scope = new URLSearchParams(request.url.slice('/token?'.length)).get('scope');
      response.end(JSON.stringify({ token: `for ${scope}` }));
    } else if (request.url !== '/v2/library/node/manifests/24-slim') {
      response.writeHead(404).end();
    } else if (request.headers.authorization !== 'Bearer for repository:library/node:pull') {
      const challenge = `Bearer realm="http://${host}/token",service="test",scope="repository:library/node:pull"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
    } else if (!request.headers.accept?.startsWith('application/vnd.oci.image.index')) {
      response.writeHead(406).end();
    } else response.writeHead(200, { 'docker-content-digest': named }).end(MANIFEST);
  };
  const { url, stop } = await startWebServer(answer);
  onTestFinished(stop);
  return new URL(url).host;
}

test('an image without a registry is one of Docker Hub', () => {
  const hub = 'https://registry-1.docker.io';
  expect(readReference('node:24-slim')).toEqual({ url: hub, repository: 'library/node', tag: '24-slim' });
  expect(readReference('docker.io/some/node')).toEqual({ url: hub, repository: 'some/node', tag: 'latest' });
  expect(readReference('quay.example.com:5000/a/b:1')).toEqual({
    url: 'https://quay.example.com:5000',
    repository: 'a/b',
    tag: '1',
  });
});

test('the digest of a tag is that of the index that the registry gives to anyone', async () => {
  expect(await digestOf(`${await registry()}/library/node:24-slim`)).toBe(DIGEST);
});

test('a digest that the manifest does not have is refused, and so is a tag that does not exist', async () => {
  await expect(digestOf(`${await registry('sha256:0')}/library/node:24-slim`)).rejects.toThrow(
    'names sha256:0',
  );
  await expect(digestOf(`${await registry()}/library/node:25`)).rejects.toThrow('404');
});

test('pin.ts writes the digest to the line of the base image, in place of an older one', async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'Dockerfile');
  const image = `${await registry()}/library/node:24-slim`;
  const withBase = (base: string) => dockerfile.replace(/^ARG NODE_IMAGE=.*$/m, `ARG NODE_IMAGE=${base}`);
  for (const old of ['', `@sha256:${'0'.repeat(64)}`]) {
    await writeFile(file, withBase(`${image}${old}`));
    await promisify(execFile)(process.execPath, [join(ROOT, 'deploy/images/pin.ts'), file]);
    expect(await readFile(file, 'utf8')).toBe(withBase(`${image}@${DIGEST}`));
  }
});

test('pin.ts --print writes each image with its digest, and no file', async () => {
  const image = `${await registry()}/library/node:24-slim`;
  const before = await readFile(join(ROOT, 'deploy/images/Dockerfile'), 'utf8');
  const args = [join(ROOT, 'deploy/images/pin.ts'), '--print', image, image];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe(`${image}@${DIGEST}\n${image}@${DIGEST}\n`);
  expect(await readFile(join(ROOT, 'deploy/images/Dockerfile'), 'utf8')).toBe(before);
});
