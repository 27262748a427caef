/** An error that the user can correct. The message is one line that says what to do. */
export class Problem extends Error {
  override readonly name = 'Problem';
}
