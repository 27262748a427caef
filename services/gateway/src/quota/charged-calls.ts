import type { Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import type { Quota } from './quota.ts';

/**
 * Counts the quota's commits, to be compared with metering's bills. "answered": the call's usage is durable, and its answer says
 * that it was charged. "unsure": the call is answered 503, and may be billed or not.
 */
export function countCharged({ metrics }: Pick<Service, 'metrics'>, quota: Quota): Quota {
  let answered = 0;
  let unsure = 0;
  new Counter({
    name: 'gateway_charged_calls_total',
    help: 'Calls that callers were told are charged: "answered" ones are billed, "unsure" ones (503) may be',
    labelNames: ['certainty'],
    registers: [metrics],
    // Set at each scrape, so that a call costs no more than an addition.
    collect() {
      this.reset();
      this.inc({ certainty: 'answered' }, answered);
      this.inc({ certainty: 'unsure' }, unsure);
    },
  });
  return {
    ...quota,
    commit: async (permit) => {
      try {
        await quota.commit(permit);
      } catch (error) {
        unsure += 1;
        throw error;
      }
      answered += 1;
    },
  };
}
