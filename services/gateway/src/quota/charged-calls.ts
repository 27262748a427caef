import type { Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import type { Quota } from './quota.ts';

/**
 * The same quota, its commits counted: what metering's bills are compared with. "answered": the call's use is durable, and
 * its caller is told that it was charged; "unsure": it is answered 503, and may be billed or not.
 */
export function countCharged({ metrics }: Pick<Service, 'metrics'>, quota: Quota): Quota {
  let answered = 0;
  let unsure = 0;
  new Counter({
    name: 'gateway_charged_calls_total',
    help: 'Calls that callers were told are charged: "answered" ones are billed, "unsure" ones (503) may be',
    labelNames: ['certainty'],
    registers: [metrics],
    // Read at each scrape: the calls only count.
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
