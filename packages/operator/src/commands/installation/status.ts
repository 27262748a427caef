import { Fault } from '@brand-data/runtime';
import { Command } from 'commander';
import { AddressMissing } from '../../connection/usage-error.ts';
import type { Context } from '../../terminal/context.ts';
import { table } from '../../text/tables.ts';

interface ServiceStatus {
  service: string;
  /** Null if it was not asked, because its address is not set. */
  answers: boolean | null;
  /** A summary of its data, why it does not answer, or why it was not asked. */
  detail: string;
}

export function statusCommand({ accounts, catalog, metering, images, output }: Context): Command {
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
          const { usage } = await metering().call((client) => client.getUsage, {
            accountId: 'none',
            month: '',
          });
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
          services.map(({ service, answers, detail }) => [service, shown(answers), detail]),
        ),
      );
      const silent = services.filter(({ answers }) => answers === false).map(({ service }) => service);
      if (silent.length > 0) throw new Fault('unavailable', `no answer from ${silent.join(' and ')}`);
    });
}

function shown(answers: boolean | null): string {
  if (answers === null) return 'not asked';
  return answers ? 'yes' : 'no';
}

async function statusOf(service: string, ask: () => Promise<string>): Promise<ServiceStatus> {
  try {
    return { service, answers: true, detail: await ask() };
  } catch (error) {
    if (error instanceof AddressMissing) return { service, answers: null, detail: 'no address given' };
    if (!(error instanceof Fault)) throw error;
    return { service, answers: false, detail: error.message };
  }
}
