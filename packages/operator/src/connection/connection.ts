import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  AccountsAdminServiceClient,
  ADMIN_SERVERS,
  CatalogAdminServiceClient,
  DiagnosisAdminServiceClient,
  ImagesAdminServiceClient,
  isOperatorCredential,
  MeteringAdminServiceClient,
} from '@brand-data/contracts';
import type { AdminPort } from '@brand-data/importers';
import {
  Certificates,
  callClientStream,
  callServerStream,
  callUnary,
  connectChannel,
  INSECURE_PLAINTEXT,
  PASS_LASTS_MS,
  type Transport,
} from '@brand-data/runtime';
import { namedError } from './call-errors.ts';
import { AddressMissing, type AdminServer, FILE_PROBLEM, UsageError } from './failures.ts';
import { resumedStream } from './reading.ts';
import type { Certified, Settings } from './settings.ts';

const DEADLINE_MS = 10_000;
/** A stream of the whole catalogue may take very long. */
const STREAM_MS = 3_600_000;

type GrpcClient = ReturnType<typeof connectChannel>;

export type Connection = ReturnType<typeof openConnection>;

type OptionsFor = (service: AdminServer, deadlineMs: number) => Promise<Parameters<typeof callUnary>[3]>;

/**
 * Returns the options of each call: the operator's credential, and an id that all calls of this run have in the trail of changes.
 *
 * @param issuePass asks accounts for a pass for the service, which lasts some minutes
 */
function callOptions(
  credential: string,
  issuePass: (service: AdminServer, deadlineMs: number) => Promise<string>,
): OptionsFor {
  const requestId = randomUUID();
  const passes = new Map<AdminServer, { pass: Promise<string>; renewAtMs: number }>();
  const passFor = (service: AdminServer, deadlineMs: number): Promise<string> => {
    const held = passes.get(service);
    if (held !== undefined && held.renewAtMs > performance.now()) return held.pass;
    const renewAtMs = performance.now() + PASS_LASTS_MS / 2;
    const pass = issuePass(service, Math.min(deadlineMs, DEADLINE_MS));
    // A pass that could not be had is asked for again at the next call.
    pass.catch(() => passes.delete(service));
    passes.set(service, { pass, renewAtMs });
    return pass;
  };
  return async (service, deadlineMs) => {
    const isEnough = service === 'accounts' || !isOperatorCredential(credential);
    const operatorToken = isEnough ? credential : await passFor(service, deadlineMs);
    return { deadlineMs, operatorToken, requestId };
  };
}

/** An admin port of `bds`. If the service does not answer a call, the Fault's message names the service. */
export class Port<Client extends GrpcClient> implements AdminPort<Client> {
  readonly target: string;
  readonly #client: Client;
  readonly #service: AdminServer;
  readonly #optionsFor: OptionsFor;

  constructor(service: AdminServer, target: string, client: Client, optionsFor: OptionsFor) {
    this.#service = service;
    this.target = target;
    this.#client = client;
    this.#optionsFor = optionsFor;
  }

  async call<Request, Response>(
    method: (client: Client) => Parameters<typeof callUnary<Request, Response>>[1],
    request: Request,
    deadlineMs = DEADLINE_MS,
  ): Promise<Response> {
    return this.#reach(deadlineMs, (options) =>
      callUnary(this.#client, method(this.#client), request, options),
    );
  }

  /** Yields the messages of the answer, and goes on after the last one if the stream breaks off. Throws a Fault if it is not complete. */
  readStream<Request extends { after: string }, Response extends { after: string }>(
    method: (client: Client) => Parameters<typeof callServerStream<Request, Response>>[1],
    request: Request,
  ): AsyncGenerator<Response> {
    return resumedStream((after) => this.#readOnce(method, { ...request, after }), request.after);
  }

  async *#readOnce<Request, Response>(
    method: (client: Client) => Parameters<typeof callServerStream<Request, Response>>[1],
    request: Request,
  ): AsyncGenerator<Response> {
    try {
      const options = await this.#optionsFor(this.#service, STREAM_MS);
      yield* callServerStream(this.#client, method(this.#client), request, options);
    } catch (error) {
      throw namedError(this.#service, this.target, error);
    }
  }

  /** Sends the messages. Rejects with a Fault, or with what `messages` throws. */
  async sendStream<Request, Response>(
    method: (client: Client) => Parameters<typeof callClientStream<Request, Response>>[1],
    messages: AsyncIterable<Request>,
    deadlineMs: number,
  ): Promise<Response> {
    return this.#reach(deadlineMs, (options) =>
      callClientStream(this.#client, method(this.#client), messages, options),
    );
  }

  async #reach<Answer>(
    deadlineMs: number,
    call: (options: Awaited<ReturnType<OptionsFor>>) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await call(await this.#optionsFor(this.#service, deadlineMs));
    } catch (error) {
      throw namedError(this.#service, this.target, error);
    }
  }
}

/** Connects to each service when it is first used. */
export function openConnection({ operatorToken, gateways = [], ...settings }: Settings) {
  const clients: GrpcClient[] = [];
  const transport = transportOf(settings);
  const optionsFor = callOptions(operatorToken, async (service, deadlineMs) => {
    const { pass } = await accounts().call((client) => client.issuePass, { service }, deadlineMs);
    return pass;
  });

  function port<Client extends GrpcClient>(
    service: AdminServer,
    Constructor: Parameters<typeof connectChannel<Client>>[0],
  ): () => Port<Client> {
    let opened: Port<Client> | undefined;
    return () => {
      if (opened !== undefined) return opened;
      const target = settings[service];
      if (target === undefined) throw new AddressMissing(service);
      const client = connectChannel(Constructor, target, { transport, peer: service });
      clients.push(client);
      opened = new Port(service, target, client, optionsFor);
      return opened;
    };
  }

  const accounts: () => Port<AccountsAdminServiceClient> = port('accounts', AccountsAdminServiceClient);
  const diagnosis = Object.fromEntries(
    ADMIN_SERVERS.map((service) => [service, port(service, DiagnosisAdminServiceClient)]),
  ) as Record<AdminServer, () => Port<DiagnosisAdminServiceClient>>;
  return {
    accounts,
    catalog: port('catalog', CatalogAdminServiceClient),
    metering: port('metering', MeteringAdminServiceClient),
    images: port('images', ImagesAdminServiceClient),
    /** The checks of the service. */
    diagnosis: (service: AdminServer) => diagnosis[service](),
    gateways: gateways as readonly string[],
    /** When the certificate of bds ends. Undefined without one. */
    certificate: transport.certificates,
    close() {
      for (const client of clients) client.close();
    },
  };
}

function transportOf(certified: Certified): Transport {
  if ('transport' in certified) return INSECURE_PLAINTEXT;
  const inFolder = (name: string) => join(certified.certificates, name);
  const files = { cert: inFolder('tls.crt'), key: inFolder('tls.key'), ca: inFolder('ca.crt') };
  try {
    return { certificates: Certificates.read('bds', files) };
  } catch (error) {
    const { code = '', message, path } = error as NodeJS.ErrnoException;
    const problem = FILE_PROBLEM[code];
    throw new UsageError(
      `the certificates in ${certified.certificates} are not usable: ${problem ? `${path} ${problem}` : `${message}. Renew them, or name another folder`}`,
    );
  }
}
