/** Ctrl-C ended the command. What it did before remains. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
