import { type CallTrouble, callTroubleOf, Fault } from '@brand-data/runtime';

/** A Fault whose message already names a service. A stream that `bds` sends to one service may come from another service. */
class Named extends Fault {}

/**
 * Returns the error of a failed call, with a message that names the service and says what to do, and that never repeats gRPC's
 * own messages.
 */
export function namedError(service: string, target: string, error: unknown): unknown {
  if (error instanceof Named) return error;
  const trouble = callTroubleOf(error);
  const at = `${service} at ${target}`;
  if (trouble !== undefined)
    return new Named(KIND[trouble] ?? 'unavailable', `${at} ${TEXT[trouble](service)}`, { cause: error });
  if (!(error instanceof Fault)) return error;
  if (error.kind === 'unavailable')
    return new Named(error.kind, `${at} cannot do this now: ${error.message}`, { cause: error });
  if (error.kind === 'unauthenticated')
    return new Named(
      error.kind,
      `${at} does not accept your credential (${error.message.replace(/:.*/s, '')}): check --as, --operator-token-file and BDS_OPERATOR_TOKEN`,
      { cause: error },
    );
  return error;
}

/** All other troubles are of the kind `unavailable`. */
const KIND: Partial<Record<CallTrouble, Fault['kind']>> = {
  unknown_method: 'failed_precondition',
  wrong_caller: 'permission_denied',
};

const TEXT: Record<CallTrouble, (service: string) => string> = {
  no_listener: (service) =>
    `did not answer: nothing listens there. Check that ${service} runs, and that the address is that of its admin port`,
  unknown_host: () => 'did not answer: this host name has no address. Check the name',
  unreachable_host: () => 'did not answer: the host cannot be reached. Check the network and its policies',
  certificates: () =>
    'did not answer: one side does not accept the certificate of the other. Check --certificates, the end of the certificates, and that the address is that of this service',
  late: () => 'did not answer in time: look whether it made the change, if that was one, and try again',
  cut_off: () =>
    'did not answer: the connection ended. Look whether it made the change, if that was one, and try again; if it ends again, check that the address is that of the admin port, and --certificates',
  too_large: () => 'did not answer: the message is too large. Ask for less at once',
  unknown_method: (service) =>
    `does not know this command, because its version is earlier than that of bds: upgrade ${service} first`,
  wrong_caller: (service) =>
    `does not let bds do this: either its version is earlier than that of bds, then upgrade ${service} first, or the certificate in --certificates is not that of bds`,
  defect: (service) => `failed: the log of ${service} says why`,
};
