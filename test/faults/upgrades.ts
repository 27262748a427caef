import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startNatsServer } from '@brand-data/servers';
import { type Campaign, type CampaignOptions, type Parts, runCampaign } from './engine.ts';
import type { FaultRow } from './fault.ts';

/** The version from which an upgrade begins: 0.1.0, which has no tag. */
export const VERSION_BEFORE = '87f221faaf5072dcfeaa7891739721927273918d';

const ROOT = join(import.meta.dirname, '../..');
/** How long old and new processes work side by side when half of a pass is done. */
const SIDE_BY_SIDE_MS = 8_000;
const ALLOWANCES = [5, 40, 300, 1_000];

/** In which order the processes of a pass are replaced, and by which version. */
const PASSES = [
  { name: 'upgrade, services first', to: 'now', first: 'services' },
  { name: 'rollback, gateways first', to: 'before', first: 'gateways' },
  { name: 'upgrade, gateways first', to: 'now', first: 'gateways' },
  { name: 'rollback, services first', to: 'before', first: 'services' },
] as const;

/** The replacement of a process, after the one before is ready. */
interface Replacement extends FaultRow {
  process: string;
  to: 'before' | 'now';
  /** Whether it is the first of a pass, or the first after half of the pass. */
  begins?: 'pass' | 'half' | undefined;
}

/**
 * Replaces the processes of an earlier version one by one by those of this version, and back, while accounts are driven past their
 * limits. Each service then works with the earlier version of every other. Returns the violations.
 */
export async function runUpgrades({
  from,
  ...options
}: CampaignOptions & { from: string }): Promise<string[]> {
  const checkout = await checkOut(from, options.say);
  // Here a service may do what either version needs. deploy/operations.md says how an operator gives the rights.
  const nats = await startNatsServer({ dataDir: join(checkout, '.local/nats-server') });
  const version = new Map<string, Replacement['to']>();
  const campaign: Campaign<Replacement> = {
    stack: {
      natsUrl: nats.url,
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
    leadInMs: 5_000,
    rows,
    async watch({ traffic }, { process, to, begins }) {
      version.set(process, to);
      if (begins === 'half') await delay(SIDE_BY_SIDE_MS);
      if (begins === 'pass')
        for (const allowance of ALLOWANCES) await traffic.open(allowance, allowance / 30);
      return [];
    },
  };
  try {
    return await runCampaign(campaign, { ...options, minutes: 0 });
  } finally {
    await nats.stop();
    await rm(checkout, { recursive: true, force: true });
  }
}

function rows({ stack }: Parts): Replacement[] {
  const gateways = stack.gateways.map(({ name }) => name);
  const services = [...stack.opsUrls.keys()].filter((each) => !gateways.includes(each));
  return PASSES.flatMap(({ name: kind, to, first }) => {
    const halves = first === 'services' ? [services, gateways] : [gateways, services];
    return halves.flatMap((half, second) =>
      half.map((process, index) => ({
        name: `${process} to ${to} (${kind})`,
        kind,
        process,
        to,
        faults: [{ part: process, how: 'restarted' as const }],
        awayMs: 0,
        begins: index > 0 ? undefined : (['pass', 'half'] as const)[second],
      })),
    );
  });
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
