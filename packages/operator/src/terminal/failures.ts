/** The command has done what it could and reported it, and something of it failed or was refused. */
export class PartlyFailed extends Error {
  override readonly name = 'PartlyFailed';
}

/** Ctrl-C ended the command. What it did before remains. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
