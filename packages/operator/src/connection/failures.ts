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

/** The command has done and reported what it could, but a part of its work failed or was refused. */
export class PartlyFailed extends Error {
  override readonly name = 'PartlyFailed';
}

/** The command failed for a reason that may pass, such as a server or a service that does not answer: it is worth another try. */
export class PassingFailure extends PartlyFailed {}

/** Ctrl-C ended the command. What it did before remains. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Problems of a file and their remedies, by the system's code. The path stands before the text. */
export const FILE_PROBLEM: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist: check its name',
  EACCES: 'may not be used by you: check its owner and its mode',
  EISDIR: 'is a folder: name a file in it',
  ENOTDIR: 'is not in a folder: check its name',
  ENOSPC: 'has no room: the disk is full',
};
