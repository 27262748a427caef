/**
 * The rules of the quota protocol that metering keeps. They are always all on; a simulation switches one off to show that
 * it is needed.
 */
export interface LedgerRules {
  /** A seq at or below the holder's last, without an open grant, opens nothing. */
  staleSeqRefused: boolean;
  /** Of two limits, that of the newer revision counts. */
  revisionOrder: boolean;
  /** A crashed holder's grant is settled only when all before a marker in the stream is applied. */
  markerBarrier: boolean;
  /** It is settled no sooner than a grace and the clocks' drift after its end. */
  graceAndDrift: boolean;
  /** Usage is refused only where the ledger's counter proves that its grant was given out and is closed. */
  refusedOnlyIfProven: boolean;
  /** Usage that the stream brings for a closed grant is dropped. */
  closedEventsDropped: boolean;
  /** Usage of more than a closed grant is billed with is answered as refused. */
  closedReportsRefused: boolean;
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
};
