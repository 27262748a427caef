import { Fault } from '@brand-data/runtime';
import { Command } from '@commander-js/extra-typings';
import { AddressMissing } from '../../connection/failures.ts';
import type { Context } from '../../terminal/context.ts';
import { table } from '../../text/tables.ts';

export function statusCommand({ accounts, catalog, metering, images, output }: Context) {
  return new Command('status')
    .description('Check that the services answer, and show how much data they store')
    .action(async () => {
      const services = await Promise.all([
        statusOf('accounts', async () => {
          const { plans } = await accounts().call((client) => client.listPlans, {});
          return plans.length === 1 ? '1 plan' : `${plans.length} plans`;
        }),
        statusOf('catalog', async () => {
          const { brands, sources } = await catalog().call((client) => client.getStatistics, {});
          const bySource = sources.map((each) => `${each.source} ${each.brands}`).join(', ');
          return `${brands} records${bySource === '' ? '' : ` (${bySource})`}`;
        }),
        statusOf('metering', async () => {
          // The account does not exist. Metering answers nevertheless, with no usage.
          const request = { accountId: 'none', month: '' };
          const { usage } = await metering().call((client) => client.getUsage, request);
          return `current month ${usage?.month}`;
        }),
        statusOf('images', async () => {
          const { images: count } = await images().call((client) => client.countImages, {});
          return `${count} images`;
        }),
      ]);
      output.answer({ services }, () =>
        table(
          ['SERVICE', 'ANSWERS', 'DETAIL'],
          services.map(({ service, answers, detail }) => [service, ANSWERS.get(answers), detail]),
        ),
      );
      const silent = services.filter(({ answers }) => answers === false).map(({ service }) => service);
      if (silent.length > 0) throw new Fault('unavailable', `no answer from ${silent.join(' and ')}`);
    });
}

const ANSWERS = new Map([
  [true, 'yes'],
  [false, 'no'],
  [null, 'not asked'],
]);

/** `answers` is null if the service was not asked, because its address is not set. `detail` sums up its data, or says why. */
async function statusOf(service: string, ask: () => Promise<string>) {
  try {
    return { service, answers: true, detail: await ask() };
  } catch (error) {
    if (error instanceof AddressMissing) return { service, answers: null, detail: 'no address given' };
    if (!(error instanceof Fault)) throw error;
    return { service, answers: false, detail: error.message };
  }
}
