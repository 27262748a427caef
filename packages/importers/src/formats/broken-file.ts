/** A compressed file is damaged or truncated, so its content can be read up to this place only. */
export class BrokenFile extends Error {
  override readonly name = 'BrokenFile';
}
