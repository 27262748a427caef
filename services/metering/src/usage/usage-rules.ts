/** The promises of the usage streams' side. They are always all on; a simulation switches one off to show that it is needed. */
export interface UsageRules {
  /** A message is acknowledged after its usage is stored, not when it is taken. */
  acknowledgedOnceStored: boolean;
  /** Usage of a grant that the store does not know, or cannot write now, comes again. */
  unstoredRedelivered: boolean;
  /** Only acknowledged messages are purged. */
  onlyAppliedPurged: boolean;
}

export const ALL_RULES: UsageRules = {
  acknowledgedOnceStored: true,
  unstoredRedelivered: true,
  onlyAppliedPurged: true,
};
