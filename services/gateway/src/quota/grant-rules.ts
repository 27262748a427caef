/**
 * The rules of the quota protocol that a gateway keeps. They are always all on; a simulation switches one off to show
 * that it is needed.
 */
export interface GrantRules {
  /** A grant's time runs from the first send of its seq, not from a retry. */
  timeFromFirstSend: boolean;
  /** The stream's acknowledgement counts until a grant's end and a grace. */
  acknowledgementDeadline: boolean;
  /** A grant is said to be closed only with nothing in flight. */
  closedOnlyWhenQuiet: boolean;
  /** No permit is spent outside its month. */
  monthsCut: boolean;
}

export const ALL_RULES: GrantRules = {
  timeFromFirstSend: true,
  acknowledgementDeadline: true,
  closedOnlyWhenQuiet: true,
  monthsCut: true,
};
