/**
 * Tries to get out of a worker process, and prints a JSON object with what came of each attempt. Arguments: the id of the service's
 * process, and a file with a secret of the service.
 */

import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as inspector from 'node:inspector';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';

const [service, secret = ''] = process.argv.slice(2);

const attempts: Record<string, () => unknown> = {
  'read the code': () => fs.readFileSync(import.meta.filename),
  "read the service's environment": () => fs.readFileSync(`/proc/${service}/environ`),
  "read the service's memory": () => fs.openSync(`/proc/${service}/mem`, 'r'),
  "list the service's files": () => fs.readdirSync(`/proc/${service}/fd`),
  "read the service's directory": () => fs.readdirSync(`/proc/${service}/cwd`),
  'read a secret': () => fs.readFileSync(secret),
  'look for a secret': () => fs.statSync(secret),
  'list the folder of secrets': () => fs.readdirSync(dirname(secret)),
  'link to a secret': () => fs.symlinkSync(secret, `${import.meta.filename}.link`),
  'read the users of the machine': () => fs.readFileSync('/etc/passwd'),
  'write beside a secret': () => fs.writeFileSync(`${secret}.txt`, ''),
  'change the code': () => fs.appendFileSync(import.meta.filename, '\n'),
  'start a process': () => throwOf(spawnSync('/bin/true')),
  'start a thread': () => new Worker('0', { eval: true }),
  'open a database': () => createRequire(import.meta.url)('node:sqlite'),
  'open a debugger': () => inspector.open(0),
  'reach the inside of Node': () => (process as unknown as { binding(name: string): unknown }).binding('fs'),
};

function throwOf({ error }: { error?: Error | undefined }): void {
  if (error) throw error;
}

const outcomes = Object.entries(attempts).map(([name, attempt]) => {
  try {
    attempt();
    return [name, 'done'];
  } catch (error) {
    return [name, (error as NodeJS.ErrnoException).code ?? String(error)];
  }
});
process.stdout.write(JSON.stringify(Object.fromEntries(outcomes)));
