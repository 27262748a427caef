/** Numbered as in services/metering/README.md, "Invariants". */
export type Invariant =
  | '1 committed permits stay within the allowance'
  | '2 every counted answer is billed'
  | '3 counted answers stay within the allowance'
  | '4 a billed call was seen as counted or as failed'
  | '5 replaying changes nothing'
  | '6 every acknowledged event is applied'
  | '7 a closed grant never opens again'
  | '8 exhausted means that no permit is available or held'
  | '9 no permit is spent outside its month'
  | '11 a rolling restart fails no call and loses no permit'
  | '12 memory is bounded'
  | '13 an account driven past its limit has billed exactly its allowance'
  | 'healthy: no call fails while allowance remains'
  | 'a lost replica leaves no account without permits'
  | 'settled: no grant stays open';

export interface Violation {
  invariant: Invariant;
  atMs: number;
  text: string;
}
