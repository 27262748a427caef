import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { duplexPair } from 'node:stream';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { dropClosedStreams } from '../src/grpc/closed-streams.ts';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants;
const CHECK = '/grpc.health.v1.Health/Check';

let server: Server;
/** What would have ended a service. */
const uncaught = vi.fn();

beforeEach(() => {
  server = new Server();
  dropClosedStreams(server);
  new HealthImplementation({ '': 'SERVING' }).addToServer(server);
  process.on('uncaughtException', uncaught);
});
afterEach(() => {
  process.off('uncaughtException', uncaught);
  server.forceShutdown();
});

/** Returns the other end of a connection to the server. The server reads what comes in one piece before it handles any of it. */
function connection() {
  const [client, end] = duplexPair();
  server.createConnectionInjector(ServerCredentials.createInsecure()).injectConnection(end);
  return client;
}

/** Returns a frame of HTTP/2 (RFC 9113, section 4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Returns headers as literals of HPACK (RFC 7541, section 6.2.2). */
function headers(values: Record<string, string>): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
  return Buffer.concat(
    Object.entries(values).flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]),
  );
}

/** Returns the bytes of a client that makes a call and closes its stream at once. */
function closedCall(path: string, contentType: string, code: number): Buffer {
  const call = { ':method': 'POST', ':scheme': 'http', ':path': path, ':authority': 'any' };
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(4, 0, 0, Buffer.alloc(0)),
    frame(1, 5, 1, headers({ ...call, 'content-type': contentType })),
    frame(3, 0, 1, Buffer.of(0, 0, 0, code)),
  ]);
}

test.each(
  [CHECK, '/an.Unknown/Method'].flatMap((path) =>
    ['application/grpc', 'text/plain'].flatMap((contentType) =>
      [NGHTTP2_CANCEL, NGHTTP2_NO_ERROR].map((code) => ({ path, contentType, code })),
    ),
  ),
)(
  'a call whose stream is closed before it is handled ends no server: $path, $contentType, $code',
  async (call) => {
    const closing = connection();
    closing.resume().on('error', () => {});
    closing.write(closedCall(call.path, call.contentType, call.code));

    const socket = connection();
    const client = connect('http://any', { createConnection: () => socket });
    const request = client.request({ ':method': 'POST', ':path': CHECK, 'content-type': 'application/grpc' });
    request.resume().end(Buffer.alloc(5));
    const [trailers] = await once(request, 'trailers');
    expect(trailers).toMatchObject({ 'grpc-status': '0' });
    expect(uncaught).not.toHaveBeenCalled();
    client.destroy();
    closing.destroy();
  },
);
