// `helm test` checks that the services answer operators and that the gateway answers callers. With TEST_ACCOUNT it also
// creates a key, checks that one call gets a record and is billed, fetches the record's logo unless the values name a host of their
// own for images, and revokes the key.
import { spawnSync } from 'node:child_process';

// IMAGES_URL leads to images within the cluster. LOGO_HOST is the public base URL of images in records. It is empty if the values
// name a host of their own, which may be a server of files.
const { GATEWAY_URL, IMAGES_URL, LOGO_HOST, TEST_ACCOUNT, TEST_IDENTIFIER } = process.env;
const CALL_WITHIN_MS = 5_000;

/** Runs `bds` and returns its answer, parsed. Its standard output is not logged, because it may hold a new key's token. */
function bds(...args) {
  const { status, stdout, stderr } = spawnSync('bds', ['--json', ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`bds ${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}

async function get(path) {
  const response = await fetch(`${GATEWAY_URL}${path}`, { signal: AbortSignal.timeout(CALL_WITHIN_MS) });
  return { status: response.status, body: await response.json() };
}

function expect(what, isTrue) {
  if (!isTrue) throw new Error(`not so: ${what}`);
  console.log(`ok: ${what}`);
}

/** The number of calls that are billed to the key. */
async function billedTo(keyId, token) {
  const { body } = await get(`/v1/usage?token=${token}`);
  return body.pools
    .flatMap(({ breakdown }) => breakdown)
    .filter(({ key }) => key === keyId)
    .reduce((sum, { count }) => sum + count, 0);
}

bds('status');
console.log('ok: accounts, catalog, metering and images answer operators');
const stranger = await get('/v1/brands/AAPL');
expect(
  'a call without a token is refused',
  stranger.status === 401 && stranger.body.code === 'token_missing',
);

if (TEST_ACCOUNT) {
  const { key, token } = bds('key', 'create', TEST_ACCOUNT, '--label', 'helm test');
  try {
    const call = await get(`/v1/brands/${encodeURIComponent(TEST_IDENTIFIER)}?token=${token}`);
    expect(`${TEST_IDENTIFIER} is answered with a record`, call.status === 200 && 'name' in call.body);
    expect('the call is billed, once', (await billedTo(key.id, token)) === 1);
    const logo = call.body.images?.logo?.big?.url ?? call.body.logo ?? '';
    if (LOGO_HOST) {
      expect(`the logo of the record is below ${LOGO_HOST}`, logo.startsWith(`${LOGO_HOST}/`));
      // Within the cluster, where the public address may lead nowhere.
      const url = `${IMAGES_URL}/images${logo.slice(LOGO_HOST.length)}`;
      const image = await fetch(url, { signal: AbortSignal.timeout(CALL_WITHIN_MS) });
      const type = image.headers.get('content-type') ?? '';
      expect('the logo of the record is an image', image.status === 200 && type.startsWith('image/'));
    } else
      console.log('not checked: the logo of the record, because gateway.logoHost names a host of its own');
  } finally {
    bds('key', 'revoke', key.id, '--yes');
  }
}
