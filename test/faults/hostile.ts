import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { AccountsServiceClient, createHolderIdentity } from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelFrom } from '@brand-data/runtime/test/channel-as.ts';
import { createRandom } from '@brand-data/testing/random';
import { type CampaignOptions, type Parts, seconds, startCampaign } from './engine.ts';
import { type GrpcParts, GrpcSender, grpcInput, grpcTargets } from './hostile-grpc.ts';
import { type HttpParts, httpInput, readAnswers, sendHttp } from './hostile-http.ts';
import { add, listed } from './ledger.ts';
import { COLLECTS_GARBAGE, MemoryLog } from './memory.ts';

const HTTP_AT_ONCE = 48;
const GRPC_AT_ONCE = 12;
/** One gRPC input for so many HTTP inputs. */
const HTTP_FOR_GRPC = 5;
const PARTS_OF_RUN = 10;
const LONGEST_SENT = 1_000;
const SMALL_CACHE = String(4 * 1024 ** 2);

/**
 * Sends hostile inputs to all ports while honest callers make calls. Returns the violations. Each input depends only on the seed and
 * its number.
 */
export async function runHostile({
  inputs,
  ...options
}: CampaignOptions & { inputs: number }): Promise<string[]> {
  const environment = { RECORD_CACHE_BYTES: SMALL_CACHE, IMAGE_CACHE_BYTES: SMALL_CACHE };
  const campaign = await startCampaign(
    {
      stack: {
        change: (service) => ({
          ...service,
          nodeOptions: COLLECTS_GARBAGE,
          environment: {
            ...service.environment,
            ...environment,
            ...(service.name === 'gateway-1' && { ACCESS_LOG: 'address' }),
          },
        }),
      },
      unlimitedPerS: 15,
      leadInMs: 0,
      rows: () => [],
      begin: async (parts) => {
        const attack = new Attack(parts, options);
        await parts.traffic.open(1_000, 5);
        const sent = attack.run(inputs);
        return { stop: () => sent, check: () => attack.check() };
      },
    },
    options,
  );
  return campaign.end();
}

/** What is found wrong, and how often. */
class Attack {
  readonly #parts: Parts;
  readonly #options: CampaignOptions;
  readonly #wrong = new Map<string, number>();
  readonly #told = { http: new Map<string, number>(), grpc: new Map<string, number>() };
  readonly #accounts: { accountId: string; allowance: number }[] = [];
  readonly #memory: MemoryLog;
  readonly #holder = createHolderIdentity();
  #charged = 0;

  constructor(parts: Parts, options: CampaignOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#memory = new MemoryLog(parts.stack);
  }

  /** Sends this many HTTP inputs, and a fifth of it gRPC inputs. */
  async run(inputs: number): Promise<void> {
    const { stack, say } = this.#parts;
    const pids = new Map(stack.names.map((name) => [name, stack.pid(name)]));
    const http = await this.#httpParts();
    const sender = new GrpcSender(stack.certificates);
    const beganMs = performance.now();
    for (let part = 1; part <= PARTS_OF_RUN; part++) {
      const grpc = await this.#grpcParts();
      const part0 = (all: number) =>
        [Math.floor((all * (part - 1)) / PARTS_OF_RUN), Math.floor((all * part) / PARTS_OF_RUN)] as const;
      await Promise.all([
        this.#each('http', part0(inputs), HTTP_AT_ONCE, (number) => this.#sendHttp(number, http)),
        this.#each('grpc', part0(inputs / HTTP_FOR_GRPC), GRPC_AT_ONCE, (number) =>
          this.#sendGrpc(number, grpc, sender),
        ),
      ]);
      const memory = await this.#memory.measure((inputs * part) / PARTS_OF_RUN / 1e6);
      say(`${part}/${PARTS_OF_RUN} after ${seconds(performance.now() - beganMs)}, MiB: ${memory}`);
    }
    sender.close();
    for (const [name, pid] of pids) if (stack.pid(name) !== pid) add(this.#wrong, `${name} ended`);
  }

  /** Returns all violations. */
  async check(): Promise<string[]> {
    const { operator, say, stack } = this.#parts;
    let billed = 0;
    for (const { accountId, allowance } of this.#accounts) {
      const [pool] = await operator.usage(accountId);
      billed += pool?.used ?? 0;
      if ((pool?.used ?? 0) > allowance)
        add(this.#wrong, `an attacker's account was billed ${pool?.used} of ${allowance} calls`);
    }
    if (this.#charged > billed)
      add(this.#wrong, `attackers saw ${this.#charged} counted answers, but ${billed} calls are billed`);
    for (const name of stack.names) await this.#readLog(name);
    say(`hostile HTTP       ${listed(this.#told.http)}; ${this.#charged} counted answers, ${billed} billed`);
    say(`hostile gRPC       ${listed(this.#told.grpc)}`);
    for (const { name, line, isTooMuch } of this.#memory.growth()) {
      say(line);
      if (isTooMuch) add(this.#wrong, `the memory of ${name} grows`);
    }
    return [...this.#wrong].map(([what, times]) => `${what}, ${times} times`);
  }

  async #each(
    kind: string,
    [from, to]: readonly [number, number],
    atOnce: number,
    send: (number: number) => Promise<void>,
  ) {
    const { only } = this.#options;
    const numbers = Array.from({ length: to - from }, (_, index) => from + index).values();
    const work = async () => {
      for (const number of numbers) if (only === '' || only === `${kind} ${number}`) await send(number);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }

  async #sendHttp(number: number, parts: HttpParts): Promise<void> {
    const input = httpInput(this.#random(number), parts);
    const answers = await sendHttp(input);
    const sent = () =>
      `http ${number} (${input.end}): ${JSON.stringify(Buffer.concat(input.chunks).toString('latin1').slice(0, LONGEST_SENT))}`;
    if (answers === undefined) return add(this.#wrong, `not closed: ${sent()}`);
    const { statuses, charged, wrong } = readAnswers(answers, parts.tokens);
    this.#charged += charged;
    for (const status of statuses) add(this.#told.http, String(status));
    if (statuses.length === 0) add(this.#told.http, 'none');
    for (const line of wrong) add(this.#wrong, `${line}: ${sent()}`);
  }

  async #sendGrpc(number: number, parts: GrpcParts, sender: GrpcSender): Promise<void> {
    const input = grpcInput(this.#random(-1 - number), parts);
    const { target, identity, headers, body, end } = input;
    const answer = await sender.send(input);
    const sent = () =>
      `grpc ${number} (${end}): ${identity} to ${target.server}${headers[':path']}: ${body.toString('base64').slice(0, LONGEST_SENT)}`;
    if (answer === undefined) return add(this.#wrong, `not answered: ${sent()}`);
    add(this.#told.grpc, /^(HTTP )?\d+/.exec(answer)?.[0] ?? 'none');
    // Status 13 with another text is gRPC's own, for frames that break its protocol.
    if (/^(2|15) |^13 internal|^HTTP 5/.test(answer)) add(this.#wrong, `${answer}: ${sent()}`);
  }

  #random(number: number) {
    return createRandom(this.#options.seed ^ Math.imul(number, 0x9e3779b1));
  }

  async #httpParts(): Promise<HttpParts> {
    const { stack, operator, client } = this.#parts;
    const mark = `mark${this.#options.seed}`;
    const first = await this.#account(1_000_000);
    const ofPage = await operator.createKey(first.accountId, { allowedOrigins: ['https://page.example'] });
    const revoked = await operator.createKey(first.accountId);
    await operator.revokeKey(revoked.keyId);
    const small = await this.#account(50);
    const slow = await this.#account(10_000, { rate: { perSecond: 2, burst: 2 }, concurrency: 1 });
    const tokens = [
      first.token,
      first.token,
      first.token,
      first.token,
      ofPage.token,
      revoked.token,
      small.token,
      slow.token,
    ];
    const url = stack.gateways[0]?.url ?? '';
    const read = async (path: string) => {
      const outcome = await client.get(`${url}${path}`);
      if (outcome.kind !== 'answered' || outcome.status !== 200) throw new Error(`${path}: ${outcome.kind}`);
      return outcome.body.toString();
    };
    const routes = Object.keys(JSON.parse(await read('/openapi.json')).paths);
    const pages = [...(await read('/docs')).matchAll(/href="([\w./-]+)"/g)].map(
      ([, href = '']) => new URL(href, `${url}/docs`).pathname,
    );
    const images = [
      ...(
        await read(`/v1/brands/O'Brien's Corner-Shop?token=${first.token}`.replaceAll(' ', '%20'))
      ).matchAll(/"url":"([^"]+)"/g),
    ].map(([, each = '']) => new URL(each).pathname);
    const logo = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><path d="M0 0h90v60z" fill="#123"/></svg>',
    );
    const stored = `/images/${await operator.putLogo(logo)}`;
    const pictures = [...images, stored].flatMap((path) => [
      path,
      path.replace(/\.svg$/, ''),
      path.replace(/\.svg$/, '.png'),
    ]);
    const paths = [
      ...Array(8).fill(routes).flat(),
      '/',
      '/playground',
      '/llms.txt',
      '/elements.js',
      '/nowhere',
      ...pages,
    ];
    const portOf = (server: { url: string }) => Number(new URL(server.url).port);
    const servers = [
      ...stack.gateways.map((server) => ({ port: portOf(server), paths })),
      ...stack.images.map((server) => ({
        port: portOf(server),
        paths: ['/images/errors', '/images/nowhere', '/nowhere', ...pictures],
      })),
    ];
    return { servers, tokens, mark };
  }

  /** Returns parts with an account of their own, because calls close accounts and revoke keys, and allowances expire. */
  async #grpcParts(): Promise<GrpcParts> {
    const { stack, operator } = this.#parts;
    const { accountId, plan, token, keyId } = await operator.newAccount(100_000);
    const accounts = connectChannel(
      AccountsServiceClient,
      stack.targets.accounts ?? '',
      channelFrom(stack.certificates, 'gateway', 'accounts'),
    );
    const tokenSha256 = hash('sha256', token, 'buffer');
    const { outcome } = await callUnary(
      accounts,
      accounts.verifyToken,
      { tokenSha256 },
      { deadlineMs: 10_000 },
    );
    accounts.close();
    const allowance = outcome?.$case === 'credential' ? outcome.value.allowance : '';
    const { name } = this.#holder;
    const month = new Date().toISOString().slice(0, 7);
    const fitting = {
      accountId,
      plan,
      token,
      keyId,
      month,
      allowance,
      holder: name,
      pool: 'calls',
      source: 'hostile',
      limit: 100_000,
      importId: 'hostile',
      network: '203.0.113.7/32',
      id: accountId,
    };
    const words = [
      accountId,
      plan,
      token,
      keyId,
      month,
      name,
      'calls',
      'hostile',
      'nobody',
      'company.ceo',
      '203.0.113.7',
      '2026-99',
      '',
      '\0',
      '$where',
      'é\u202e',
      'x'.repeat(2_000),
    ];
    return {
      targets: grpcTargets(stack),
      words,
      fitting,
      operatorToken: stack.operator.operatorToken,
      holderProof: this.#holder.proofAt(Date.now()),
    };
  }

  async #account(allowance: number, limits?: Parameters<Parts['operator']['newAccount']>[1]) {
    const account = await this.#parts.operator.newAccount(allowance, limits);
    this.#accounts.push({ accountId: account.accountId, allowance });
    return account;
  }

  /** Looks for tokens, queries and defects in the log of a process. */
  async #readLog(name: string): Promise<void> {
    const { stack } = this.#parts;
    const lines = createInterface(createReadStream(`${stack.dataDir}/logs/${name}.log`));
    for await (const line of lines) {
      if (line.includes(`mark${this.#options.seed}`) || line.includes('token='))
        add(this.#wrong, `a token or a query in the log of ${name}: ${line.slice(0, LONGEST_SENT)}`);
      if (/"level":"(error|fatal)"/.test(line) && !line.includes('unreadable usage refused'))
        add(this.#wrong, `${name} logged ${line.slice(0, LONGEST_SENT)}`);
    }
  }
}
