import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Problem } from '@brand-data/servers';
import type { Bds } from './bds.ts';
import { readJson, writeSecret } from './data-folder.ts';
import type { Stack } from './stack.ts';

/** The contents of `demo.json`, which scripts read. */
export interface Demo {
  gateways: string[];
  tokens: { paid: string; free: string; small: string };
  nats: string;
  mongodb: string;
}

/** The demo accounts. Each has a plan of the same name with one pool. */
export const DEMO_ACCOUNTS = {
  paid: { pool: 'calls', allowance: 100_000, routes: 'brands,logos' },
  free: { pool: 'free-logos', allowance: 1_000, routes: 'logos' },
  small: { pool: 'calls', allowance: 5, routes: 'brands,logos' },
} as const;
type Kind = keyof typeof DEMO_ACCOUNTS;

/** Creates the demo accounts that do not exist yet, and writes `demo.json`. Keeps the tokens that still work. */
export async function demoAccounts(dataDir: string, stack: Stack, bds: Bds): Promise<Demo> {
  const file = join(dataDir, 'demo.json');
  const kept = (await readJson<Partial<Demo>>(file))?.tokens;
  const gateway = stack.gateways[0]?.url ?? '';
  const tokenOf = async (kind: Kind): Promise<string> => {
    const token = kept?.[kind];
    return token !== undefined && (await works(gateway, token)) ? token : makeAccount(kind, bds);
  };
  const [paid, free, small] = await Promise.all([tokenOf('paid'), tokenOf('free'), tokenOf('small')]);
  const demo: Demo = {
    gateways: stack.gateways.map(({ url }) => url),
    tokens: { paid, free, small },
    nats: stack.natsUrl,
    mongodb: stack.mongodbUrl,
  };
  await writeSecret(file, demo);
  return demo;
}

async function makeAccount(kind: Kind, bds: Bds): Promise<string> {
  const { pool, allowance, routes } = DEMO_ACCOUNTS[kind];
  await bds('plan', 'set', kind, '--pool', `${pool}=${allowance}:${routes}`);
  const found = (await bds('account', 'show', `demo-${kind}`).catch(() => undefined)) as Shown | undefined;
  // No account gets the id of a deleted one again.
  const id = found?.account.state === 'deleted' ? [] : ['--id', `demo-${kind}`];
  const create = () => bds('account', 'create', ...id, '--name', `Demo (${kind})`, '--plan', kind);
  const { account } = found && id.length > 0 ? found : ((await create()) as Shown);
  const made = (await bds('key', 'create', account.id, '--label', 'npm start')) as { token: string };
  return made.token;
}

interface Shown {
  account: { id: string; state: string };
}

/** Checks a token with a call that is never counted: the gateway checks the token first, and then refuses the identifier. */
async function works(gateway: string, token: string): Promise<boolean> {
  const url = `${gateway}/api/logos/%00/info?token=${token}`;
  for (let tries = 0; tries < 50; tries++) {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    if (status === 400) return true;
    if (status === 401) return false;
    await delay(100);
  }
  throw new Problem(`${gateway} does not answer for the demo accounts: see its log.`);
}
