import { Certificates, type Transport } from '@brand-data/runtime';
import { certificateFiles } from '@brand-data/servers';
import { inject } from 'vitest';

/** For `connectChannel`: calls the service `peer` as `identity`, such as "gateway" or "bds". */
export function channelAs(identity: string, peer: string): { transport: Transport; peer: string } {
  return channelFrom(inject('certificates'), identity, peer);
}

/** Returns the same with the certificates in `folder`. This also works outside vitest. */
export function channelFrom(
  folder: string,
  identity: string,
  peer: string,
): { transport: Transport; peer: string } {
  const certificates = Certificates.read(identity, certificateFiles(folder, identity));
  return { transport: { certificates }, peer };
}
