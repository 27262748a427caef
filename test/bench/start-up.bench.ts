import { spawnSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { table } from './catalogue/table.ts';
import { inTurns, spreadOf } from './harness/in-turns.ts';
import { shown } from './harness/results.ts';

const SERVICES = ['accounts', 'catalog', 'metering', 'images', 'gateway-1'];

let stack: TestStack;
let folder: string;
const rows: string[][] = [];

beforeAll(async () => {
  folder = await temporaryFolder();
  const noting = `--import=${fileURLToPath(new URL('./harness/note-start.mjs', import.meta.url))}`;
  const environment = {
    STARTS_FOLDER: folder,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${noting}`,
  };
  stack = await startTestStack({ gateways: 1, environment });
});

afterAll(async () => {
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
  console.log(
    `Milliseconds of a start, medians and ranges of the rounds\n${table(
      ['service', 'until ready', 'Node', 'modules', 'connections and the rest', 'an empty program', 'ratio'],
      rows,
    )}`,
  );
});

test.each(SERVICES)(
  'the start of %s in parts, compared with an empty program',
  async (service) => {
    const start = async () => {
      await stack.kill(service);
      const began = performance.now();
      await stack.restart(service);
      const ready = performance.now() - began;
      const noted = await readFile(join(folder, `${stack.pid(service)}.json`), 'utf8');
      const { node, modules } = JSON.parse(noted) as { node: number; modules: number };
      return { ready, node, modules: modules - node, rest: ready - modules };
    };
    const empty = async () => {
      const began = performance.now();
      spawnSync(process.execPath, ['--eval', '0']);
      return performance.now() - began;
    };
    const rounds = await inTurns(start, empty);
    const over = (digits: number, figure: (round: (typeof rounds)[number]) => number) =>
      shown(digits, spreadOf(rounds.map(figure)));
    rows.push([
      service,
      over(0, ({ own }) => own.ready),
      over(0, ({ own }) => own.node),
      over(0, ({ own }) => own.modules),
      over(0, ({ own }) => own.rest),
      over(0, ({ base }) => base),
      over(1, ({ own, base }) => own.ready / base),
    ]);
  },
  120_000,
);
