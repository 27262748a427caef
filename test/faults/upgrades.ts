import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Campaign, type CampaignOptions, type Parts, runCampaign } from './engine.ts';
import { boundAfter } from './fault.ts';
import { add, listed } from './ledger.ts';

/** The version from which an upgrade begins: 0.1.0, which has no tag. */
export const VERSION_BEFORE = '87f221faaf5072dcfeaa7891739721927273918d';

const ROOT = join(import.meta.dirname, '../..');
const LEAD_IN_MS = 5_000;
/** How long old and new processes work side by side when half of a pass is done. */
const SIDE_BY_SIDE_MS = 8_000;
const ALLOWANCES = [5, 40, 300, 1_000];

/** Which processes have which version at the beginning and the end of a pass. */
interface Pass {
  name: string;
  to: 'before' | 'now';
  first: 'services' | 'gateways';
}

const PASSES: readonly Pass[] = [
  { name: 'upgrade, services first', to: 'now', first: 'services' },
  { name: 'rollback, gateways first', to: 'before', first: 'gateways' },
  { name: 'upgrade, gateways first', to: 'now', first: 'gateways' },
  { name: 'rollback, services first', to: 'before', first: 'services' },
];

/**
 * Replaces the processes of an earlier version one by one by those of this version, and back, while accounts are driven past their
 * limits. Each service then works with the earlier version of every other. Returns the violations.
 */
export async function runUpgrades(options: CampaignOptions & { from: string }): Promise<string[]> {
  const { from, say } = options;
  const checkout = await checkOut(from, say);
  const version = new Map<string, Pass['to']>();
  const campaign: Campaign = {
    stack: {
      gateways: 3,
      meterings: 2,
      others: 2,
      change: (service) => {
        const now = String(service.main);
        const before = join(checkout, relative(ROOT, now));
        return { ...service, main: () => (version.get(service.name) === 'now' ? now : before) };
      },
    },
    unlimitedPerS: 18,
    judgesWindows: true,
    async suffer(parts) {
      await delay(LEAD_IN_MS);
      for (const pass of PASSES) await make(pass, parts, version);
      return {};
    },
  };
  try {
    return await runCampaign(campaign, options);
  } finally {
    await rm(checkout, { recursive: true, force: true });
  }
}

/** Replaces all processes, each after the one before is ready. */
async function make(
  { name, to, first }: Pass,
  { stack, traffic, say }: Parts,
  version: Map<string, Pass['to']>,
): Promise<void> {
  const gateways = stack.gateways.map((gateway) => gateway.name);
  const services = [...stack.opsUrls.keys()].filter((each) => !gateways.includes(each));
  for (const allowance of ALLOWANCES) await traffic.open(allowance, allowance / 30);
  const failures = new Map<string, number>();
  let calls = 0;
  const replace = async (names: readonly string[]) => {
    for (const process of names) {
      version.set(process, to);
      const restart = {
        name: `${process} to ${to} (${name})`,
        targets: [process],
        losesGrants: false,
        boundMs: boundAfter(process),
        happen: () => stack.restart(process),
      };
      const window = await traffic.suffer(restart, 0);
      calls += window.calls;
      for (const [what, times] of window.failures) add(failures, what, times);
    }
  };
  await replace(first === 'services' ? services : gateways);
  await delay(SIDE_BY_SIDE_MS);
  await replace(first === 'services' ? gateways : services);
  say(
    `${name.padEnd(28)} ${calls} calls while processes stop and start, failures: ${listed(failures) || 'none'}`,
  );
}

/** Clones the version, with its packages, into a separate folder. */
async function checkOut(commit: string, say: (line: string) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'brand-data-before-'));
  const run = (command: string, ...args: string[]) =>
    promisify(execFile)(command, args, { cwd: folder, timeout: 300_000 });
  try {
    await run('git', 'clone', '--quiet', '--shared', ROOT, folder);
    await run('git', 'checkout', '--quiet', commit);
    await run('node', 'deploy/local/install.mjs');
    const { stdout } = await run('git', 'log', '-1', '--format=%h of %cs');
    say(`from ${stdout.trim()}`);
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    const { stderr = '', message } = error as { stderr?: string; message: string };
    throw new Error(
      `the version before (${commit}) cannot be checked out and installed: ${stderr || message}`,
    );
  }
}
