/** Asks a container registry which digest a tag has now. */
import { hash } from 'node:crypto';

/** The kinds of manifests to ask for. An index comes first, because its digest is the same for all architectures of an image. */
const KINDS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
const ANSWER_WITHIN_MS = 10_000;

/** Where an image is: `node:24` is the tag `24` of `library/node` on Docker Hub. */
export function readReference(image: string): { url: string; repository: string; tag: string } {
  const [, host, path = '', tag = 'latest'] =
    /^(?:([^/]*[.:][^/]*|localhost)\/)?([^:@]+)(?::([^@]+))?$/.exec(image) ?? [];
  if (path === '') throw new Error(`${image} is not the name of an image and its tag`);
  if (host !== undefined && host !== 'docker.io') {
    const scheme = /^(localhost|127\.0\.0\.1)(:|$)/.test(host) ? 'http' : 'https';
    return { url: `${scheme}://${host}`, repository: path, tag };
  }
  const repository = path.includes('/') ? path : `library/${path}`;
  return { url: 'https://registry-1.docker.io', repository, tag };
}

/** Returns `sha256:…`, computed from the manifest itself. Throws an error if the registry names another digest. */
export async function digestOf(image: string): Promise<string> {
  const { url, repository, tag } = readReference(image);
  const at = `${url}/v2/${repository}/manifests/${tag}`;
  let response = await get(at, {});
  if (response.status === 401) {
    const token = await anonymousToken(response.headers.get('www-authenticate') ?? '');
    response = await get(at, { authorization: `Bearer ${token}` });
  }
  if (!response.ok) throw new Error(`${at}: ${response.status}`);
  const digest = `sha256:${hash('sha256', Buffer.from(await response.arrayBuffer()))}`;
  const named = response.headers.get('docker-content-digest') ?? digest;
  if (named !== digest) throw new Error(`${at}: the registry names ${named}, but the manifest has ${digest}`);
  return digest;
}

/** Public images need a token too. The challenge says where to get it: `Bearer realm="…",service="…",scope="…"`. */
async function anonymousToken(challenge: string): Promise<string> {
  const { realm = '', ...rest } = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const response = await get(`${realm}?${new URLSearchParams(rest)}`, {});
  if (!response.ok) throw new Error(`${realm}: ${response.status}`);
  const answer: { token?: string; access_token?: string } = JSON.parse(await response.text());
  return answer.token ?? answer.access_token ?? '';
}

function get(url: string, headers: Record<string, string>): Promise<Response> {
  return fetch(url, {
    headers: { accept: KINDS.join(', '), ...headers },
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
}
