import { once } from 'node:events';
import { createServer, type TLSSocket } from 'node:tls';
import { type Server, ServerCredentials, type ServerInterceptingCallInterface } from '@grpc/grpc-js';
import { sparingly } from '../observe/log.ts';
import { countBy, perRegistry } from '../observe/metrics.ts';
import type { Service } from '../service/service.ts';
import type { Peer } from './callers.ts';
import { type Certificates, serviceIn } from './certificates.ts';

const HANDSHAKE_WITHIN_MS = 5_000;

const REASONS = ['no_certificate', 'untrusted', 'expired', 'no_tls', 'broken_off'] as const;
type Reason = (typeof REASONS)[number];

const refusedHandshakes = perRegistry((registry) =>
  countBy(registry, {
    name: 'grpc_server_refused_handshakes_total',
    help: 'Connections to gRPC ports that ended before the peer had proved its identity, by reason',
    label: 'reason',
    values: REASONS,
  }),
);

/**
 * Accepts connections whose peers have a certificate of a trusted authority, and gives them to a gRPC server. gRPC's own
 * credentials would do the same, but would neither report refused handshakes nor remember who is at the other end: they parse the
 * certificate again at each call, which takes 50 µs.
 */
export async function listenWithMutualTls(
  { metrics, log }: Pick<Service, 'metrics' | 'log'>,
  server: Server,
  { host, port, certificates }: { host: string; port: number; certificates: Certificates },
) {
  const countRefused = refusedHandshakes(metrics);
  const warn = sparingly((fields) => log.warn(fields, 'a connection was refused: it proved no identity'));
  const connections = new Map<string, Peer>();
  const newInjector = () => server.createConnectionInjector(ServerCredentials.createInsecure());
  let injector = newInjector();
  const listener = createServer({
    ...certificates.secureContextOptions,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.3',
    ALPNProtocols: ['h2'],
    handshakeTimeout: HANDSHAKE_WITHIN_MS,
    noDelay: true,
  });
  listener.on('secureConnection', (socket) => {
    const service = serviceIn(socket.getPeerX509Certificate()?.subjectAltName);
    const key = keyOf(socket);
    connections.set(key, service === undefined ? 'unnamed' : { service });
    socket.once('close', () => connections.delete(key));
    injector.injectConnection(socket);
  });
  listener.on('tlsClientError', (error, socket) => {
    const reason = reasonOf(error, socket);
    countRefused(reason);
    if (reason !== 'broken_off') warn({ reason, code: codeOf(error), peer: socket.remoteAddress });
  });
  const forget = certificates.onChange((options) => {
    listener.setSecureContext(options);
    // Makes clients connect again, so that a certificate that is no longer trusted becomes useless. Calls in flight may finish.
    injector.destroy();
    injector = newInjector();
  });
  await once(listener.listen(port, host), 'listening');
  return {
    /** Returns who makes a call. Undefined: the call came on another port. */
    peerOf: (call: ServerInterceptingCallInterface) => connections.get(keyOf(call.getConnectionInfo())),
    /** Accepts no further connections. The server ends those that are open. */
    close: () => {
      forget();
      listener.close();
    },
  };
}

/** No two connections that are open at the same time have the same ends. */
function keyOf({
  localAddress,
  localPort,
  remoteAddress,
  remotePort,
}: ReturnType<ServerInterceptingCallInterface['getConnectionInfo']>): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

function reasonOf(error: Error, { authorizationError }: TLSSocket): Reason {
  // In truth this is the code of OpenSSL's verification, although @types/node declares it an Error.
  const verification = authorizationError as unknown as string | null;
  if (verification) return verification === 'CERT_HAS_EXPIRED' ? 'expired' : 'untrusted';
  const code = codeOf(error);
  if (code === 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE') return 'no_certificate';
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_HTTP_REQUEST') return 'no_tls';
  return 'broken_off';
}

function codeOf(error: Error): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
