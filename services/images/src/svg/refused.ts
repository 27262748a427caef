/** A picture that the service does not take. The message is for the person who sent it: why, and what to do. */
export class Refused extends Error {
  override readonly name = 'Refused';
}
