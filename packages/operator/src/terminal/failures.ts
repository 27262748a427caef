/** The command has done and reported what it could, but a part of its work failed or was refused. */
export class PartlyFailed extends Error {
  override readonly name = 'PartlyFailed';
}

/** Ctrl-C ended the command. What it did before remains. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
