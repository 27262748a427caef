/** How long a run of faults goes on, and which of them. */
export interface Campaign {
  /** Faults are repeated in another order until so many minutes are over; the first round is whole. */
  minutes: number;
  seed: number;
  /** Only the faults whose names hold this. */
  only: string;
  /** How long the grants of killed gateways are waited for at the end, and the last calls made. */
  settleMinutes: number;
  say: (line: string) => void;
}
