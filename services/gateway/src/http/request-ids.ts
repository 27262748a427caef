import { randomUUID } from 'node:crypto';

const COUNTED_DIGITS = 12;

/**
 * Returns a function that returns a new id at each call. The ids of a process begin with the same random digits and end with a
 * number. A random id for each call would take a hundredth of the processor time of the call.
 */
export function createRequestIds(): () => string {
  const start = randomUUID().slice(0, -COUNTED_DIGITS);
  let requests = 0;
  return () => {
    requests += 1;
    return start + requests.toString(16).padStart(COUNTED_DIGITS, '0');
  };
}
