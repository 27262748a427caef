// Creates the quickstart's data: the sample catalogue with its logos, and an account without a key. May be run again.
import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

// The default is the catalogue's path in the image.
const { CATALOGUE = '/sample/catalogue' } = process.env;

const bds = (...args) => spawnSync('bds', args, { stdio: 'inherit' }).status === 0;
const mustBds = (...args) => {
  if (!bds(...args)) process.exit(1);
};

while (!bds('status')) await delay(2_000);
mustBds('import', 'records', CATALOGUE);
// What an operator has changed since stays.
if (!bds('account', 'show', 'demo')) {
  mustBds('plan', 'set', 'demo', '--pool', 'calls=100000:brands,logos');
  mustBds('account', 'create', '--id', 'demo', '--name', 'Demo', '--plan', 'demo');
}
