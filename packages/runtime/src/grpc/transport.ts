import { type ChannelCredentials, type ChannelOptions, credentials, experimental } from '@grpc/grpc-js';
import { type ConfigOf, needsCertificates, type transportSpec } from '../config/config.ts';
import type { Service } from '../service/service.ts';
import { type Certificates, followCertificates, identityNameOf } from './certificates.ts';

/** How a process makes and answers gRPC calls. */
export interface Transport {
  /** Absent: without any proof of identity. */
  readonly certificates: Certificates | undefined;
}

export const INSECURE_PLAINTEXT: Transport = { certificates: undefined };

/** Waits for the certificates that the settings name, and keeps them up to date. */
export async function openTransport(
  service: Service,
  config: ConfigOf<typeof transportSpec>,
): Promise<Transport> {
  const { GRPC_TRANSPORT, TLS_CERT_FILE: cert = '', TLS_KEY_FILE: key = '', TLS_CA_FILE: ca = '' } = config;
  if (needsCertificates(config))
    return { certificates: await followCertificates(service, { cert, key, ca }) };
  const warning = 'whoever reaches a gRPC port can make calls without any proof of identity';
  service.log.warn({ GRPC_TRANSPORT }, warning);
  return INSECURE_PLAINTEXT;
}

/** Returns the credentials and options of a channel that accepts only the service `peer` at the other end. */
export function channelTo(
  peer: string,
  { certificates }: Transport,
): { credentials: ChannelCredentials; options: ChannelOptions } {
  if (certificates === undefined) return { credentials: credentials.createInsecure(), options: {} };
  return {
    credentials: experimental.createCertificateProviderChannelCredentials(certificates, certificates),
    options: { 'grpc.ssl_target_name_override': identityNameOf(peer) },
  };
}
