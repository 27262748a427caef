import { once } from 'node:events';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import * as contracts from '@brand-data/contracts';
import { createPublicApi } from '@brand-data/gateway/test/public-api.ts';
import type { Random } from '@brand-data/testing/random';
import ODD from '../odd-texts.json' with { type: 'json' };

/** Gives one generated input to a part of the service. Rejects with what a caller or an operator must never see. */
export interface Target extends AsyncDisposable {
  try(random: Random): Promise<void>;
  /** How many inputs one call of `try` gives. */
  readonly inputs: number;
}

/** How many requests go over one connection. */
const PIPELINE = 50;

/** The public API: a gateway's HTTP server, with stand-ins for the other services. No answer is a 5xx. */
export async function publicApi(): Promise<Target> {
  const api = createPublicApi();
  const port = await api.listen();
  return {
    inputs: PIPELINE,
    async try(random) {
      const requests = Array.from({ length: PIPELINE }, () => requestOf(random)).join('');
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.end(Buffer.from(`${requests}GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`));
      const answers = await textOf(socket).catch(() => '');
      const [failure] = /HTTP\/1\.1 5\d\d /.exec(answers) ?? [];
      if (failure !== undefined) throw new Error(`${failure}to one of: ${JSON.stringify(requests)}`);
      // What a caller asked for is of no more use to the stand-ins.
      api.lookedUp.length = 0;
      api.permits.length = 0;
    },
    [Symbol.asyncDispose]: () => api.close(),
  };
}

function requestOf(random: Random): string {
  const target = `${pick(ODD.paths, random)}${someText(random, 8)}${random.unit() < 0.3 ? '/info' : ''}${random.unit() < 0.7 ? '?token=good' : ''}${someText(random, 2)}`;
  // A space or a line's end would only end the target. One in fifty is kept.
  const written = random.unit() < 0.02 ? target : target.replaceAll(/[\s\p{Cc}\p{Cs}]/gu, '');
  const headers = Array.from(
    { length: Math.floor(random.unit() * 3) },
    () => `${pick(ODD.headers, random)}: ${someText(random, 4).replaceAll(/[\r\n\0]/g, '')}\r\n`,
  );
  return `${pick(ODD.methods, random)} ${written} HTTP/1.1\r\n${random.unit() < 0.99 ? 'Host: x\r\n' : ''}${headers.join('')}\r\n`;
}

interface Message {
  decode(bytes: Uint8Array): unknown;
  encode(message: never): { finish(): Uint8Array };
  fromPartial?(message: object): unknown;
}

/** The decoders of all messages of gRPC and NATS. Each input is decoded, and what it decodes to is encoded again, or is refused. */
export function decoders(): Target {
  const messages = Object.values(contracts).filter(
    (each): each is typeof each & Message => typeof (each as Partial<Message>)?.decode === 'function',
  ) as unknown as Message[];
  return {
    inputs: messages.length,
    async try(random) {
      const bytes = bytesOf(random);
      for (const message of messages) {
        let decoded: unknown;
        try {
          decoded = message.decode(bytes);
        } catch (error) {
          if (!(error instanceof Error) || (error instanceof RangeError && /stack/.test(error.message)))
            throw error;
          continue;
        }
        message.encode(decoded as never).finish();
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** Fields as Protobuf writes them, with wrong types, lengths and depths. */
function bytesOf(random: Random): Uint8Array {
  const bytes: number[] = [];
  const most = Math.floor(random.unit() ** 2 * 300);
  while (bytes.length < most) {
    if (random.unit() < 0.2) bytes.push(Math.floor(random.unit() * 256));
    else
      bytes.push(
        (1 + Math.floor(random.unit() * 15)) * 8 + pick([0, 1, 2, 2, 2, 3, 4, 5], random),
        Math.floor(random.unit() * 40),
      );
  }
  return Uint8Array.from(bytes.map((byte) => byte & 0xff));
}

/** Up to so many pieces of text that parsers treat in a special way. */
export function someText(random: Random, most: number): string {
  return Array.from({ length: Math.floor(random.unit() * most) }, () =>
    pick(ODD.pieces, random).repeat(random.unit() < 0.01 ? 500 : 1),
  ).join('');
}

export function pick<Item>(items: readonly Item[], random: Random): Item {
  return items[Math.floor(random.unit() * items.length)] as Item;
}
