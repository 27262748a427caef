/** How long a run takes and which faults it has. */
export interface Campaign {
  /** The run repeats the faults in other orders until this many minutes have passed. The first round is always complete. */
  minutes: number;
  seed: number;
  /** Only faults whose names contain this. */
  only: string;
  /** How long the run waits at the end for the grants of killed gateways, and for the last calls. */
  settleMinutes: number;
  say: (line: string) => void;
}
