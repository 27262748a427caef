import type { Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import type { Quota } from './quota.ts';

/**
 * Counts the calls that callers see as charged, so that operators can compare them with metering's bills. "answered" counts calls
 * whose usage is durable. "unsure" counts calls that the gateway answered with 503 and that metering may bill or not.
 */
export function countCharged({ metrics }: Pick<Service, 'metrics'>, quota: Quota): Quota {
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
    ...quota,
    commit: (permit) => {
      const durable = quota.commit(permit);
      durable.then(
        () => {
          answered += 1;
        },
        () => {
          unsure += 1;
        },
      );
      return durable;
    },
  };
}
