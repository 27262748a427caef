/** The rules of the quota protocol that a gateway follows. Only a simulation switches one off, to show that it is needed. */
export interface GrantRules {
  /** A grant's lifetime starts when the gateway first sends the Acquire, not when it sends a retry. */
  timeFromFirstSend: boolean;
  /** The gateway ignores the stream's acknowledgement after a grant's lifetime and a grace period. */
  acknowledgementDeadline: boolean;
  /** The gateway closes a grant only when none of the grant's calls is under way. */
  closedOnlyWhenQuiet: boolean;
  /** The gateway spends no permit outside its grant's month. */
  monthsCut: boolean;
}

export const ALL_RULES: GrantRules = {
  timeFromFirstSend: true,
  acknowledgementDeadline: true,
  closedOnlyWhenQuiet: true,
  monthsCut: true,
};
