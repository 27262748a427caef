import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MongoClient } from 'mongodb';
import { bringUpToDate } from '../src/index.ts';
import { MIGRATIONS } from './migrations.ts';

/** When the process kills itself: at the command with this number, counted from 1. */
interface Killed {
  url: string;
  name: string;
  when: 'commandStarted' | 'commandSucceeded';
  number: number;
}

/** Migrates the database in a separate process. Resolves to whether the process killed itself before it was done. */
export async function untilKilled(killed: Killed): Promise<boolean> {
  const child = spawn(process.execPath, [import.meta.filename, JSON.stringify(killed)], { stdio: 'inherit' });
  const [status, signal] = await once(child, 'exit');
  if (signal === 'SIGKILL') return true;
  if (status !== 0) throw new Error(`the process ended with ${status ?? signal}`);
  return false;
}

async function migrateAndKill({ url, name, when, number }: Killed): Promise<void> {
  const client = new MongoClient(url, { monitorCommands: true, writeConcern: { w: 'majority' } });
  await client.connect();
  let commands = 0;
  client.on(when, () => {
    commands += 1;
    if (commands === number) process.kill(process.pid, 'SIGKILL');
  });
  const log = { info: () => {}, warn: () => {} };
  const service = { log, signal: new AbortController().signal, diagnosis: undefined };
  await bringUpToDate(service as never, { client, db: client.db(name) }, MIGRATIONS);
  await client.close();
}

const [, main, argument] = process.argv;
if (main === import.meta.filename && argument) await migrateAndKill(JSON.parse(argument));
