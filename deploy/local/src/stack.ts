import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  answersAsMongodb,
  answersAsNats,
  type Child,
  ensureMongodbUsers,
  type LocalServer,
  natsUsers,
  Problem,
  publicKeyOf,
  type ServerOptions,
  serviceProcess,
  startMongod,
  startNatsServer,
} from '@brand-data/servers';
import { type PlannedService, type StackPlan, settingFile } from './plan.ts';

export interface StartOptions extends Pick<ServerOptions, 'restart' | 'say' | 'signal'> {
  /** Called with the name of each part that is ready. */
  started?: (part: string) => void;
}

export interface Stack extends StackPlan {
  /** The processes by name: "nats-server", "mongod", and those of the plan. */
  children: ReadonlyMap<string, Child>;
  /** Stops the gateways first and the servers last. */
  stop(): Promise<void>;
}

/** Starts the servers and then the services. Resolves when all are ready. If one fails, stops all and rejects with a Problem. */
export async function startStack(plan: StackPlan, options: StartOptions = {}): Promise<Stack> {
  const starting = new StartingStack(plan, options);
  try {
    await writeAllowanceKeys(plan);
    await starting.servers();
    await starting.services();
  } catch (error) {
    await starting.stop();
    throw error;
  }
  const { children } = starting;
  return { ...plan, children, stop: () => starting.stop() };
}

class StartingStack {
  readonly children = new Map<string, Child>();
  readonly #plan: StackPlan;
  readonly #options: StartOptions;
  readonly #failure = new AbortController();
  /** They are stopped group by group. */
  readonly #groups = { gateways: [] as Child[], backends: [] as Child[], servers: [] as Child[] };

  constructor(plan: StackPlan, options: StartOptions) {
    this.#plan = plan;
    this.#options = options;
  }

  async servers(): Promise<void> {
    const { nats, mongodb, natsUrl, mongodbUrl, databasePrefix, secrets } = this.#plan;
    const { serverSecret: secret } = secrets;
    await this.#allOrThrow([
      nats.port === undefined
        ? this.#requireServer('nats-server', 'NATS_URL', answersAsNats(natsUrl))
        : this.#startServer('nats-server', nats.port, (given) =>
            startNatsServer({ ...given, settings: natsUsers(secret) }),
          ),
      mongodb.port === undefined
        ? this.#requireServer('mongod', 'MONGODB_URL', answersAsMongodb(mongodbUrl))
        : this.#startServer('mongod', mongodb.port, (given) => startMongod({ ...given, secret })),
    ]);
    if (mongodb.hasUsers)
      await ensureMongodbUsers(mongodbUrl, (service) => `${databasePrefix}_${service}`, secret);
  }

  services(): Promise<void> {
    return this.#allOrThrow(this.#plan.services.map((service) => this.#startService(service)));
  }

  async stop(): Promise<void> {
    for (const group of Object.values(this.#groups)) await Promise.all(group.map((child) => child.stop()));
  }

  async #requireServer(name: string, variable: string, answers: Promise<boolean>): Promise<void> {
    const remedy = `start it, put the URL right, or unset ${variable}`;
    if (!(await answers.catch(() => false)))
      throw new Problem(`${variable} names a server that does not answer: ${remedy}.`);
    this.#options.started?.(`${name}: the one that the environment names`);
  }

  async #startServer(
    name: string,
    port: number,
    start: (options: ServerOptions) => Promise<LocalServer>,
  ): Promise<void> {
    const { child, found } = await start({
      ...this.#processOptions(name),
      dataDir: join(this.#plan.dataDir, name),
      port,
    });
    this.children.set(name, child);
    this.#groups.servers.push(child);
    this.#options.started?.(`${name} ${found.version} (${found.from})`);
  }

  async #startService({
    name,
    service,
    secretSettings,
    environment,
    ...process
  }: PlannedService): Promise<void> {
    const fileOf = (setting: string) => settingFile(this.#plan.dataDir, name, setting);
    const files = Object.keys(secretSettings).map((setting) => [`${setting}_FILE`, fileOf(setting)]);
    const child = serviceProcess({
      ...this.#processOptions(name),
      ...process,
      environment: { ...environment, ...Object.fromEntries(files) },
    });
    // Before the first wait, so that the processes are always in the order of the plan.
    this.children.set(name, child);
    this.#groups[service === 'gateway' ? 'gateways' : 'backends'].push(child);
    for (const [setting, value] of Object.entries(secretSettings)) {
      await mkdir(dirname(fileOf(setting)), { recursive: true, mode: 0o700 });
      await writeFile(fileOf(setting), value, { mode: 0o600 });
    }
    await child.start();
    this.#options.started?.(name);
  }

  #processOptions(name: string) {
    const { restart, say, signal } = this.#options;
    const { signal: failed } = this.#failure;
    return {
      name,
      logFile: join(this.#plan.dataDir, 'logs', `${name}.log`),
      restart,
      say,
      signal: signal === undefined ? failed : AbortSignal.any([failed, signal]),
    };
  }

  /** Waits for all starts, and then throws the first error. The first failure ends the other starts: none is under way afterwards. */
  async #allOrThrow(starts: readonly Promise<void>[]): Promise<void> {
    const all = Promise.all(starts);
    all.catch(() => this.#failure.abort());
    await Promise.allSettled(starts);
    await all;
  }
}

async function writeAllowanceKeys({ dataDir, secrets, allowanceKeyFiles }: StackPlan): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await writeFile(allowanceKeyFiles.signing, secrets.allowanceSigningKey, { mode: 0o600 });
  await writeFile(allowanceKeyFiles.verifying, publicKeyOf(secrets.allowanceSigningKey));
}
