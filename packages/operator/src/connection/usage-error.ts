import type { ADMIN_SERVERS } from '@brand-data/contracts';

export type AdminServer = (typeof ADMIN_SERVERS)[number];

/** The command line is wrong. The command has done nothing. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command needs the address of a service, and none was given. */
export class AddressMissing extends UsageError {
  constructor(service: AdminServer) {
    super(
      `the address of ${service} is missing: give --${service} host:port, or set BDS_${service.toUpperCase()}`,
    );
  }
}
