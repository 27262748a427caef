/** Hostile gRPC: calls of all methods, on HTTP/2 frames of our own, because gRPC's client would correct most of them. */
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from 'node:http2';
import { deflateSync, gzipSync } from 'node:zlib';
import { GRPC_SERVICES, HOLDER_PROOF_METADATA, IDENTITIES, type Identity } from '@brand-data/contracts';
import { identityNameOf } from '@brand-data/runtime';
import { certificateFiles } from '@brand-data/servers';
import type { Random } from '@brand-data/testing/random';
import type { FaultStack } from './stack.ts';

const ENDS_WITHIN_MS = 25_000;
/** Unpacked, it is larger than the largest message. */
const BOMB = gzipSync(Buffer.alloc(20 * 1024 ** 2));

/** A method, where it is served, and who may call it. */
interface Target {
  path: string;
  server: Identity;
  address: string;
  isAdmin: boolean;
  caller: Identity;
  /** Returns a message whose fields all have a value of the dictionary, as far as their types are known. */
  filled(random: Random, parts: GrpcParts): Buffer;
}

export interface GrpcParts {
  targets: readonly Target[];
  /** Values that messages are made of. They name nothing that honest callers need. */
  words: readonly string[];
  /** Values that fit fields of these names. */
  fitting: Readonly<Record<string, unknown>>;
  operatorToken: string;
  /** The proof of a gateway's holder, whose name is among the words. */
  holderProof: string;
}

/** One call. */
export interface GrpcInput {
  target: Target;
  identity: Identity;
  headers: OutgoingHttpHeaders;
  body: Buffer;
  end: 'ended' | 'left open' | 'cancelled' | 'cancelled on an answer';
}

/** Returns all methods of all ports. */
export function grpcTargets({ operator, targets }: Pick<FaultStack, 'operator' | 'targets'>): Target[] {
  return Object.values(GRPC_SERVICES).flatMap(({ servers, definition, callers }) =>
    Object.entries(definition).flatMap(([name, { path, requestDeserialize, requestSerialize }]) =>
      servers.map((server): Target => {
        const [caller = 'bds'] = (callers as Record<string, readonly Identity[]>)[name] ?? [];
        const isAdmin = caller === 'bds';
        return {
          path,
          server,
          isAdmin,
          caller,
          address: (isAdmin ? operator[server as 'accounts'] : targets[server]) ?? '',
          filled: (random, parts) => {
            const message: object = requestDeserialize(Buffer.of());
            const { fitting, words } = parts;
            const entries = Object.entries(message).map(([key, value]) => [
              key,
              key in fitting && random.chance(0.7) ? fitting[key] : valueLike(value, random, words),
            ]);
            try {
              return (requestSerialize as (message: object) => Buffer)(Object.fromEntries(entries));
            } catch {
              return wireMessage(random, words);
            }
          },
        };
      }),
    ),
  );
}

function valueLike(value: unknown, random: Random, words: GrpcParts['words']): unknown {
  if (random.chance(0.1)) return value;
  if (typeof value === 'string') return random.pick(words);
  if (typeof value === 'number')
    return random.pick([0, 1, 2, 7, 1_000, 2 ** 31, Number.MAX_SAFE_INTEGER, -1, 1_800_000_000_000]);
  if (typeof value === 'bigint') return random.pick([0n, 1n, 2n ** 53n, 2n ** 63n - 1n]);
  if (typeof value === 'boolean') return random.chance(0.5);
  if (Array.isArray(value))
    return random.chance(0.5) ? [] : Array(random.whole(1, 5)).fill(random.pick(words));
  return value;
}

/** Returns a message of any type, in protobuf's wire format: fields with small numbers, and numbers, words and messages in them. */
function wireMessage(random: Random, words: GrpcParts['words'], depth = 0): Buffer {
  const fields = Array.from({ length: random.whole(0, 6) }, () => {
    const field = random.whole(1, random.chance(0.9) ? 12 : 2_000);
    const kind = random.pick(['number', 'number', 'word', 'word', 'message', 'double']);
    if (kind === 'number')
      return [varint(field * 8), varint(random.whole(0, random.chance(0.8) ? 9 : 2 ** 40))];
    if (kind === 'double') return [varint(field * 8 + 1), Buffer.alloc(8, random.whole(0, 255))];
    const nested = kind === 'message' && depth < 4;
    const content = nested ? wireMessage(random, words, depth + 1) : Buffer.from(random.pick(words));
    return [varint(field * 8 + 2), varint(content.length), content];
  });
  return Buffer.concat(fields.flat());
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) + (rest >= 128 ? 128 : 0));
    if (rest < 128) return Buffer.from(bytes);
  }
}

/** Makes an input. The same random numbers give the same input. */
export function grpcInput(random: Random, parts: GrpcParts): GrpcInput {
  const { operatorToken, holderProof } = parts;
  const target = random.pick(parts.targets);
  const often = <T>(usual: T, others: readonly T[]) => (random.chance(0.93) ? usual : random.pick(others));
  const credentials = [
    `Bearer ${operatorToken}x`,
    'Bearer',
    `bearer ${operatorToken}`,
    'Basic eDp4',
    `Bearer bdsop_${'a'.repeat(32)}`,
    `Bearer ${'x.'.repeat(2_000)}`,
  ];
  const more: OutgoingHttpHeaders[] = [
    { 'x-request-id': 'x'.repeat(random.whole(0, 200)) },
    { 'x-bin': '%%%' },
    { traceparent: 'zz' },
    { 'x-long': 'x'.repeat(9_000) },
  ];
  const headers: OutgoingHttpHeaders = {
    ':method': often('POST', ['GET', 'PUT', 'OPTIONS']),
    ':path': often(target.path, [
      `${target.path}x`,
      '/',
      '/x',
      target.path.toUpperCase(),
      `/${'x'.repeat(5_000)}/x`,
      '*',
    ]),
    'content-type': often('application/grpc', [
      'application/grpc+proto',
      'application/grpc+json',
      'application/json',
      'text/plain',
      'application/grpcx',
      '',
    ]),
    'grpc-timeout': often('5S', ['0n', '0S', '1n', '1m', '50m', '-1S', 'x', '99999999H', '999999999S']),
    ...(random.chance(0.97) && { te: 'trailers' }),
    ...(target.server === 'metering' && random.chance(0.9) && { [HOLDER_PROOF_METADATA]: holderProof }),
    ...(target.isAdmin && { authorization: often(`Bearer ${operatorToken}`, credentials) }),
    ...(random.chance(0.1) && random.pick(more)),
  };
  const message = messageOf(random, target, parts);
  const isPacked = random.chance(0.08);
  if (isPacked)
    headers['grpc-encoding'] = random.pick(['gzip', 'gzip', 'deflate', 'identity', 'snappy', 'x']);
  const body = random.chance(0.03)
    ? noise(random, 30)
    : Buffer.concat(Array.from({ length: often(1, [0, 2, 5]) }, () => framed(random, message, isPacked)));
  const end = random.chance(0.9)
    ? 'ended'
    : random.pick(['left open', 'cancelled', 'cancelled on an answer'] as const);
  // Without an end of its message, a call ends at its deadline.
  if (end === 'left open') headers['grpc-timeout'] = random.pick(['1m', '100m', '300m']);
  return { target, identity: often(target.caller, IDENTITIES), headers, body, end };
}

function messageOf(random: Random, target: Target, parts: GrpcParts): Buffer {
  let message = random.chance(0.7) ? target.filled(random, parts) : wireMessage(random, parts.words);
  if (random.chance(0.1)) message = noise(random, 60);
  while (random.chance(0.2)) {
    const at = random.whole(0, message.length);
    message = Buffer.concat([
      message.subarray(0, at),
      noise(random, 3),
      message.subarray(at + random.whole(0, 3)),
    ]);
  }
  return message;
}

function noise(random: Random, most: number): Buffer {
  return Buffer.from(Array.from({ length: random.whole(0, most) }, () => random.whole(0, 255)));
}

/** Returns a message with its length before it, or with another length. */
function framed(random: Random, message: Buffer, isPacked: boolean): Buffer {
  const forms = [
    () => message,
    () => gzipSync(message),
    () => deflateSync(message),
    () => gzipSync(message).subarray(0, -4),
    () => BOMB,
  ];
  const content = isPacked ? random.pick(forms)() : message;
  const head = Buffer.alloc(5);
  head[0] = random.chance(0.96) ? Number(isPacked) : random.whole(0, 255);
  const lengths = [0, content.length + 1, Math.max(0, content.length - 1), 2 ** 24, 2 ** 31, 2 ** 32 - 1];
  head.writeUInt32BE(random.chance(0.96) ? content.length : random.pick(lengths), 1);
  return Buffer.concat([head, content]);
}

/** Sends calls over connections that it keeps. */
export class GrpcSender {
  readonly #certificates: string;
  readonly #sessions = new Map<string, ClientHttp2Session>();

  /** @param certificates the folder with the certificates of all identities */
  constructor(certificates: string) {
    this.#certificates = certificates;
  }

  /** Resolves to the status of gRPC or HTTP with gRPC's message, such as "3 the request does not decode", or to how else it ended. */
  send({ target, identity, headers, body, end }: GrpcInput): Promise<string | undefined> {
    return new Promise((resolve) => {
      const call = this.#session(identity, target).request(headers, { endStream: false });
      let told = '';
      const late = setTimeout(() => {
        resolve(undefined);
        call.close(constants.NGHTTP2_CANCEL);
      }, ENDS_WITHIN_MS);
      const read = (given: OutgoingHttpHeaders) => {
        if (given[':status'] !== undefined) told = `HTTP ${given[':status']}`;
        if (given['grpc-status'] === undefined) return;
        told = `${given['grpc-status']} ${given['grpc-message'] ?? ''}`;
        if (end === 'left open') cancel();
      };
      const cancel = () => call.close(constants.NGHTTP2_CANCEL);
      call.on('response', (given) => {
        read(given);
        if (end === 'cancelled on an answer') cancel();
      });
      call.on('trailers', read);
      call.on('error', () => {});
      call.on('close', () => {
        clearTimeout(late);
        resolve(told);
      });
      call.resume();
      if (end === 'cancelled') call.write(body, cancel);
      else if (end === 'left open') call.write(body);
      else call.end(body);
    });
  }

  close(): void {
    for (const session of this.#sessions.values()) session.destroy();
  }

  #session(identity: Identity, { server, address }: Target): ClientHttp2Session {
    const name = `${identity} ${address}`;
    const open = this.#sessions.get(name);
    if (open && !open.closed && !open.destroyed) return open;
    const { cert, key, ca } = certificateFiles(this.#certificates, identity);
    const session = connect(`https://${address}`, {
      cert: readFileSync(cert),
      key: readFileSync(key),
      ca: readFileSync(ca),
      servername: identityNameOf(server),
    });
    session.on('error', () => {});
    // A server that closes its connection answers the calls on it first. New calls need a new one.
    session.on('goaway', () => this.#sessions.delete(name));
    this.#sessions.set(name, session);
    return session;
  }
}
