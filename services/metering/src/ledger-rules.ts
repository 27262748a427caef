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
}

export const ALL_RULES: LedgerRules = {
  staleSeqRefused: true,
  revisionOrder: true,
  markerBarrier: true,
  graceAndDrift: true,
};
