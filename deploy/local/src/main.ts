import { join, resolve } from 'node:path';
import { openConnection, serveUsagePage } from '@brand-data/operator';
import { Problem } from '@brand-data/servers';
import { bdsWith } from './bds.ts';
import { importCatalogue } from './catalogue.ts';
import { keepCertificates } from './certificates.ts';
import { lockDataFolder, readState, writeSecret, writeState } from './data-folder.ts';
import { demoAccounts } from './demo.ts';
import { develop } from './develop.ts';
import { parseOptions, USAGE } from './options.ts';
import { planStack } from './plan.ts';
import { requireFreePorts, stackPorts } from './ports.ts';
import { startStack } from './stack.ts';
import { closingText, terminalOn } from './terminal.ts';

const RENEW_EVERY_MS = 86_400_000;
const ROOT = resolve(import.meta.dirname, '../../..');

const terminal = terminalOn(process.stdout);
const stopping = new AbortController();
const stops: (() => Promise<unknown>)[] = [];

const told = new Promise<string>((resolve) => {
  // A repeated signal must change nothing, because a Ctrl-C arrives twice: from the terminal and from npm.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal));
});
void told.then(() => stopping.abort());

try {
  await start();
  await told;
} catch (error) {
  if (!stopping.signal.aborted) {
    process.exitCode = 1;
    process.stderr.write(`${error instanceof Problem ? error.message : (error as Error).stack}\n`);
  }
}
// If only the folder's lock is left to release, stopping takes no time and needs no message.
if (stops.length > 1) terminal.say('stopping');
for (const stop of stops.reverse()) await stop();
process.exit();

async function start(): Promise<void> {
  const { signal } = stopping;
  const { say } = terminal;
  const options = parseOptions(process.argv.slice(2), {
    root: ROOT,
    cwd: process.env.INIT_CWD ?? process.cwd(),
  });
  if (options.help) {
    process.stdout.write(USAGE);
    stopping.abort();
    process.exit();
  }
  const { dataDir } = options;
  stops.push(await lockDataFolder(dataDir));
  await requireFreePorts(options.port, options.gateways);
  const state = await readState(dataDir);
  await writeState(dataDir, state);
  const portFor = stackPorts(options.port, state.ports);
  const certificates = join(dataDir, 'certificates');

  const stack = await terminal.step('servers and services', async () => {
    await keepCertificates(certificates);
    const { NATS_URL, MONGODB_URL, GRPC_TRANSPORT } = process.env;
    const plan = await planStack({
      dataDir,
      gateways: options.gateways,
      portFor,
      nats: NATS_URL ? { url: NATS_URL, hasUsers: false } : undefined,
      mongodb: MONGODB_URL ? { url: MONGODB_URL, hasUsers: false } : undefined,
      secrets: state,
      certificates,
      // The only setting that lets the services call one another without any proof of identity.
      transport: GRPC_TRANSPORT === 'insecure_plaintext' ? GRPC_TRANSPORT : 'mutual_tls',
      environment: options.mcp ? { MCP: 'on' } : {},
    });
    plan.services = develop(plan.services, options);
    return startStack(plan, { restart: true, say, started: (part) => say(`  ${part}`), signal });
  });
  stops.push(() => stack.stop());
  const renewal = setInterval(() => renew(certificates), RENEW_EVERY_MS);
  stops.push(async () => clearInterval(renewal));
  const usagePage = await serveUsagePage({
    port: await portFor('usage-page'),
    connectAs: (operatorToken) => openConnection({ ...stack.operator, operatorToken }),
    onDefect: (error) => say(`the page of usage has a defect: ${(error as Error).stack}`),
  });
  stops.push(() => usagePage.stop());
  await writeState(dataDir, state);
  const connectionFile = join(dataDir, 'operator.json');
  await writeSecret(connectionFile, stack.operator);
  const bds = bdsWith(connectionFile);

  const holds = await terminal.step('sample catalogue', () => importCatalogue(dataDir, bds, say));
  say(`  ${holds}`);
  const demo = await terminal.step('demo accounts', () => demoAccounts(dataDir, stack, bds));
  say(closingText(demo, dataDir, usagePage.url));
}

/** For a stack that runs for months. The services notice new files by themselves. */
function renew(certificates: string): void {
  keepCertificates(certificates).catch((error: Error) =>
    terminal.say(`the certificates could not be renewed: ${error.message}`),
  );
}
