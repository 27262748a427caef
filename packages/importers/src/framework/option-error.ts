/** An option of an import is wrong or does not fit the file. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
}
