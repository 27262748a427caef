import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createAllowanceSigner } from '@brand-data/accounts/src/rpc/allowance-signer.ts';
import {
  createHolderIdentity,
  type Grant,
  type GrantUsage,
  HOLDER_PROOF_METADATA,
  MeteringAdminServiceClient,
  MeteringServiceClient,
  Route,
  USAGE_SIGNATURE_HEADER,
  UsageEvent,
  usageStream,
} from '@brand-data/contracts';
import { callUnary, connectChannel, signingKeyFromPem } from '@brand-data/runtime';
import { channelFrom } from '@brand-data/runtime/test/channel-as.ts';
import { type JetStreamClient, jetstream } from '@nats-io/jetstream';
import { connect, headers } from '@nats-io/transport-node';
import { type FaultStack, startFaultStack } from './stack.ts';

const GRANTS_PER_S = 500;
const TICK_MS = 20;
const ACCOUNTS = 50;
/** A holder may have only a few open grants of an account. */
const HOLDERS = 100;
/** The most requests at a time. Without this bound, metering would be busy with requests whose callers no longer wait. */
const MOST_IN_FLIGHT = 250;
const ASK_WITHIN_MS = 3_000;
/** Short enough that some requests reach the next primary in its first moments. */
const AGAIN_AFTER_MS = 50;
const BEFORE_MS = 2_000;
const AFTER_MS = 3_000;
const ELECTED_WITHIN_MS = 12_000;
const BILLED_WITHIN_MS = 60_000;
const WHOLE_WITHIN_MS = 60_000;
const CLOSED_AT_ONCE = 200;

/** A grant of which the run uses one permit. */
interface Given {
  account: string;
  grantId: string;
}

/**
 * The results of one kill -9 of the primary. Meanwhile the run sends each grant's usage as soon as metering gives the grant, and
 * repeats it until it is accepted.
 */
interface FailOver {
  electedMs: number | undefined;
  grants: number;
  /** Grants whose usage a Report refused, so that it is never billed. */
  refused: number;
  /** Grants whose usage is not billed a minute later. */
  lost: number;
}

/** Kills MongoDB's primary this many times under 500 grants a second. Returns the usage that was not billed. */
export async function runFailOvers(times: number, say: (line: string) => void): Promise<string[]> {
  const stack = await startFaultStack({ gateways: 1, meterings: 2, clusters: true });
  const nats = await connect({ servers: stack.natsUrl.split(','), maxReconnectAttempts: -1 });
  const driver = new Driver(stack, jetstream(nats));
  const violations: string[] = [];
  const all: FailOver[] = [];
  try {
    for (let number = 1; number <= times; number++) {
      const failOver = await failOverOnce(stack, driver);
      all.push(failOver);
      const { electedMs, grants, refused, lost } = failOver;
      say(
        `${String(number).padStart(3)}  grants given again after ${electedMs?.toFixed(0)} ms; ${grants} grants, usage of ${refused} refused, usage of ${lost} not billed`,
      );
      if (refused > 0)
        violations.push(`fail-over ${number}: metering refused the usage of ${refused} grants`);
      if (lost > 0)
        violations.push(`fail-over ${number}: metering has not billed the usage of ${lost} grants`);
      if (electedMs === undefined || electedMs > ELECTED_WITHIN_MS)
        violations.push(
          `fail-over ${number}: metering gave grants again only after ${electedMs?.toFixed(0)} ms (bound ${ELECTED_WITHIN_MS} ms)`,
        );
    }
  } finally {
    driver.close();
    await nats.close();
    await stack.stop();
  }
  const elected = all.flatMap(({ electedMs }) => electedMs ?? []).sort((a, b) => a - b);
  const sum = (figure: 'grants' | 'refused' | 'lost') => all.reduce((total, each) => total + each[figure], 0);
  say(
    `${all.length} fail-overs: grants given again after ${elected[0]?.toFixed(0)}/${elected[elected.length >> 1]?.toFixed(0)}/${elected.at(-1)?.toFixed(0)} ms (min/median/max); ${sum('grants')} grants, usage of ${sum('refused')} refused, usage of ${sum('lost')} not billed`,
  );
  return violations;
}

async function failOverOnce(stack: FaultStack, driver: Driver): Promise<FailOver> {
  const mongodb = stack.clusters?.mongodb;
  const primary = await mongodb?.leader();
  if (!mongodb || primary === undefined) throw new Error('MongoDB has no primary');
  const load = driver.begin();
  await delay(BEFORE_MS);
  await stack.kill(primary);
  const lostMs = performance.now();
  await load.givesAgain();
  const electedMs = performance.now() - lostMs;
  await delay(AFTER_MS);
  await stack.restart(primary);
  const { given, refused } = await load.end();
  const lateMs = performance.now() + BILLED_WITHIN_MS;
  let lost = await driver.missing(given);
  for (; lost > 0 && performance.now() < lateMs; lost = await driver.missing(given)) await delay(500);
  // If these grants stayed open, the settler would have to read all of them again and again until it settles them.
  await driver.closeGrants(given);
  while (!(await mongodb.isWhole()) && performance.now() < lateMs + WHOLE_WITHIN_MS) await delay(200);
  return { electedMs, grants: given.length, refused, lost };
}

type Holder = ReturnType<typeof createHolderIdentity>;

/** Requests grants and reports their usage as gateways do. */
class Driver {
  readonly #replicas: MeteringServiceClient[];
  readonly #admin: MeteringAdminServiceClient;
  readonly #stack: FaultStack;
  readonly #js: JetStreamClient;
  readonly #signer: ReturnType<typeof createAllowanceSigner>;
  readonly #holders = Array.from({ length: HOLDERS }, createHolderIdentity);
  /** The holder of each grant, by the grant's id. */
  readonly #holderOf = new Map<string, Holder>();
  #seq = 0;
  #turn = 0;

  constructor(stack: FaultStack, js: JetStreamClient) {
    const { certificates, operator, secrets } = stack;
    this.#stack = stack;
    this.#js = js;
    this.#replicas = stack.meteringTargets.map((target) =>
      connectChannel(MeteringServiceClient, target, channelFrom(certificates, 'gateway', 'metering')),
    );
    this.#admin = connectChannel(
      MeteringAdminServiceClient,
      operator.metering,
      channelFrom(certificates, 'bds', 'metering'),
    );
    this.#signer = createAllowanceSigner(signingKeyFromPem(secrets.allowanceSigningKey));
  }

  begin(): Load {
    return new Load(this);
  }

  /** Resolves to undefined if metering gives no grant. */
  async acquire(accountId: string): Promise<Grant | undefined> {
    this.#seq += 1;
    const client = this.#replica();
    const holder = this.#holders[this.#seq % HOLDERS] ?? createHolderIdentity();
    const pools = [{ name: 'calls', allowance: 10_000_000, routes: [] }];
    const { token } = await this.#signer.sign(
      { _id: accountId, revision: 0 },
      { pools, revision: 1 },
      Date.now(),
    );
    const { outcome } = await callUnary(
      client,
      client.acquire,
      {
        holder: holder.name,
        seq: this.#seq,
        accountId,
        pool: 'calls',
        urgent: false,
        waiting: 0,
        wantSoon: 0,
        limit: 10_000_000,
        limitRevision: 1,
        want: 10,
        ignoredFromSeq: 0,
        fromMs: 0,
        usage: [],
        allowance: token,
      },
      { deadlineMs: ASK_WITHIN_MS, metadata: proofOf(holder) },
    );
    if (outcome?.$case !== 'grant') return undefined;
    this.#holderOf.set(outcome.value.id, holder);
    return outcome.value;
  }

  /** Sends usage by Reports. Resolves to the number of grants whose usage metering refused. */
  async report(...usage: GrantUsage[]): Promise<number> {
    const reports = [...Map.groupBy(usage, (each) => this.#holder(each))].map(async ([holder, own]) => {
      const client = this.#replica();
      const request = { holder: holder.name, usage: own };
      const options = { deadlineMs: ASK_WITHIN_MS, metadata: proofOf(holder) };
      const answer = await callUnary(client, client.report, request, options);
      if (answer.unavailableGrantIds.length > 0) throw new Error('metering could not store all of the usage');
      return answer.refusedGrantIds.length;
    });
    return (await Promise.all(reports)).reduce((sum, each) => sum + each, 0);
  }

  /** Sends usage on the stream. */
  async publish(usage: GrantUsage): Promise<void> {
    const holder = this.#holder(usage);
    const event = UsageEvent.encode({ holder: holder.name, usage: [usage] }).finish();
    const signed = headers();
    signed.set(USAGE_SIGNATURE_HEADER, holder.sign(event));
    const subject = usageStream(1).subjectOf(holder.name);
    await this.#js.publish(subject, event, { msgID: usage.grantId, timeout: ASK_WITHIN_MS, headers: signed });
  }

  /** Returns the number of these grants whose usage is not billed. */
  async missing(given: readonly Given[]): Promise<number> {
    const options = { deadlineMs: 10_000, operatorToken: this.#stack.operator.operatorToken };
    let missing = 0;
    for (const [accountId, { length }] of Map.groupBy(given, ({ account }) => account)) {
      const { usage } = await callUnary(this.#admin, this.#admin.getUsage, { accountId, month: '' }, options);
      missing += Math.max(0, length - (usage?.pools[0]?.used ?? 0));
    }
    return missing;
  }

  async closeGrants(given: readonly Given[]): Promise<void> {
    for (let at = 0; at < given.length; at += CLOSED_AT_ONCE) {
      const usage = given.slice(at, at + CLOSED_AT_ONCE).map(({ grantId }) => usageOf(grantId, true));
      await untilDone(() => this.report(...usage));
    }
  }

  close(): void {
    for (const client of [...this.#replicas, this.#admin]) client.close();
  }

  #holder({ grantId }: GrantUsage): Holder {
    return this.#holderOf.get(grantId) ?? createHolderIdentity();
  }

  #replica(): MeteringServiceClient {
    this.#turn += 1;
    const found = this.#replicas[this.#turn % this.#replicas.length];
    if (!found) throw new Error('there are no replicas');
    return found;
  }
}

/** Requests grants and uses one permit of each, until its end. */
class Load {
  readonly #driver: Driver;
  readonly #accounts = Array.from({ length: ACCOUNTS }, () => `acct-${randomBytes(6).toString('hex')}`);
  readonly #given: Given[] = [];
  readonly #waiting = new Set<{ sinceMs: number; resolve: () => void }>();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #beganMs = performance.now();
  readonly #ticking: NodeJS.Timeout;
  #asked = 0;
  #refused = 0;

  constructor(driver: Driver) {
    this.#driver = driver;
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Resolves when metering has given a grant that was requested after this call. */
  givesAgain(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add({ sinceMs: performance.now(), resolve });
    });
  }

  /** Stops requesting grants. Resolves when all usage is durable or refused. */
  async end(): Promise<{ given: Given[]; refused: number }> {
    clearInterval(this.#ticking);
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
    return { given: this.#given, refused: this.#refused };
  }

  #tick(): void {
    const due = ((performance.now() - this.#beganMs) / 1_000) * GRANTS_PER_S;
    for (; this.#asked < due; this.#asked++) {
      if (this.#inFlight.size >= MOST_IN_FLIGHT) continue;
      const using = this.#useOne(this.#accounts[this.#asked % ACCOUNTS] ?? '').finally(() =>
        this.#inFlight.delete(using),
      );
      this.#inFlight.add(using);
    }
  }

  async #useOne(account: string): Promise<void> {
    const beganMs = performance.now();
    const grant = await this.#driver.acquire(account).catch(() => undefined);
    if (!grant) return;
    for (const each of this.#waiting) if (beganMs > each.sinceMs) each.resolve();
    this.#given.push({ account, grantId: grant.id });
    const usage = usageOf(grant.id);
    if (this.#given.length % 2 === 0) await untilDone(() => this.#driver.publish(usage));
    else {
      const refused = await untilDone(() => this.#driver.report(usage));
      this.#refused += refused;
    }
  }
}

function proofOf(holder: Holder) {
  return { [HOLDER_PROOF_METADATA]: holder.proofAt(Date.now()) };
}

/** Repeats the attempt until it succeeds, as gateways do. */
async function untilDone<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await delay(AGAIN_AFTER_MS);
    }
  }
}

function usageOf(grantId: string, closed = false): GrantUsage {
  const day = new Date().toISOString().slice(0, 10);
  const cells = [{ keyId: 'key', route: Route.BRANDS, status: 200, day, count: 1 }];
  return { grantId, used: 1, returned: 0, closed, cells, partial: false };
}
