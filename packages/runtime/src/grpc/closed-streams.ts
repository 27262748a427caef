import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Server } from '@grpc/grpc-js';

/** The private method of grpc-js that sees each call first. It returns whether the call goes on. */
interface Verifier {
  _verifyContentType(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean;
}

/**
 * Makes the server drop calls whose client has closed the stream before they are handled. Without this, grpc-js still answers a wrong
 * content type or an unknown method, which throws, so that a caller could end the process.
 */
export function dropClosedStreams(server: Server): void {
  const verifier = server as unknown as Verifier;
  const verify = verifier._verifyContentType.bind(server);
  verifier._verifyContentType = (stream, headers) =>
    !stream.closed && !stream.destroyed && verify(stream, headers);
}
