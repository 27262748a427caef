import type { Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';

/** Counts the calls that callers see as charged, so that operators can compare them with metering's bills. */
export interface ChargedCalls {
  /** The call's usage is durable, so metering bills it. */
  answered(): void;
  /** The gateway answers the call with 503, and metering may bill it or not. */
  unsure(): void;
}

/** Registers the counter of charged calls. */
export function countCharged({ metrics }: Pick<Service, 'metrics'>): ChargedCalls {
  let answered = 0;
  let unsure = 0;
  new Counter({
    name: 'gateway_charged_calls_total',
    help: 'Calls whose answer said that they are charged. "answered" ones are billed. "unsure" ones (503) may be billed or not',
    labelNames: ['certainty'],
    registers: [metrics],
    // The counter is set at each scrape, so that a call only increments a variable.
    collect() {
      this.reset();
      this.inc({ certainty: 'answered' }, answered);
      this.inc({ certainty: 'unsure' }, unsure);
    },
  });
  return {
    answered: () => {
      answered += 1;
    },
    unsure: () => {
      unsure += 1;
    },
  };
}
