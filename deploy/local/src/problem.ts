/** Something that the person at the keyboard can put right. The message is one line that says what to do. */
export class Problem extends Error {
  override readonly name = 'Problem';
}
