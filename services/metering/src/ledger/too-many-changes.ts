import { Fault } from '@brand-data/runtime';

export function tooManyChanges(): Fault {
  return new Fault('unavailable', 'too many changes of ledgers at once: try again');
}
