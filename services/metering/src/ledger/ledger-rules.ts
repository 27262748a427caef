/**
 * The rules of the quota protocol that metering follows. In production all of them are on. The simulation switches one off to
 * show that it is needed.
 */
export interface LedgerRules {
  /** A seq that is not newer than the holder's last one and has no open grant opens nothing. */
  staleSeqRefused: boolean;
  /** A request's limit replaces the ledger's only if its revision is newer. */
  revisionOrder: boolean;
  /** A grant is settled only when all messages before a marker in each stream are applied. */
  markerBarrier: boolean;
  /** A grant is settled only when the grace for acknowledgements and the drift of clocks have passed after its end. */
  graceAndDrift: boolean;
  /** Usage is refused only if the ledger proves that its grant was given out and is closed. */
  refusedOnlyIfProven: boolean;
  /** Usage of a closed grant does not change the bill. */
  closedEventsDropped: boolean;
  /** Usage that reports more than a closed grant was billed with is answered as refused. */
  closedReportsRefused: boolean;
  /** Usage changes a grant only if the grant's holder sent it. */
  ownGrantsOnly: boolean;
  /** The limit is the one that accounts has signed, whatever the request names. */
  signedLimits: boolean;
  /** A grant is closed only if it is open. */
  closedOnlyOnce: boolean;
}

export const ALL_RULES: LedgerRules = {
  staleSeqRefused: true,
  revisionOrder: true,
  markerBarrier: true,
  graceAndDrift: true,
  refusedOnlyIfProven: true,
  closedEventsDropped: true,
  closedReportsRefused: true,
  closedOnlyOnce: true,
  ownGrantsOnly: true,
  signedLimits: true,
};
