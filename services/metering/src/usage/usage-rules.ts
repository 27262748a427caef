/**
 * The rules that metering follows for the usage streams. In production all of them are on. The simulation switches one off to
 * show that it is needed.
 */
export interface UsageRules {
  /** A message is acknowledged after its usage is stored, not when it is taken. */
  acknowledgedOnceStored: boolean;
  /** If the store does not know a message's grant, or cannot write its usage now, the message is delivered again. */
  unstoredRedelivered: boolean;
  /** Only acknowledged messages are purged. */
  onlyAppliedPurged: boolean;
}

export const ALL_RULES: UsageRules = {
  acknowledgedOnceStored: true,
  unstoredRedelivered: true,
  onlyAppliedPurged: true,
};
