import { ADMIN_SERVERS } from '@brand-data/contracts';
import { foundExpiry, VERSION } from '@brand-data/runtime';
import { Command } from '@commander-js/extra-typings';
import type { Connection } from '../../connection/connection.ts';
import { PartlyFailed } from '../../connection/failures.ts';
import { examineGateway } from '../../doctor/gateways.ts';
import { type CheckLine, clockLines, examineService, lineOf, ok } from '../../doctor/services.ts';
import type { Context } from '../../terminal/context.ts';
import { table } from '../../text/tables.ts';

export function doctorCommand({ connect, output }: Context) {
  return new Command('doctor')
    .description(
      'Check the services, what they depend on, credentials, certificates, clocks and versions, and say what to do',
    )
    .option('--strict', 'exit with 1 also if there are only warnings')
    .action(async ({ strict }) => {
      const lines = await examine(connect());
      output.answer({ healthy: lines.every(({ state }) => state !== 'wrong'), checks: lines }, () =>
        table(
          ['STATE', 'PART', 'CHECK', 'FOUND', 'WHAT TO DO'],
          lines.map(({ state, part, check, found, advice }) => [state, part, check, found, advice]),
        ),
      );
      const counted = (wanted: CheckLine['state']) => lines.filter(({ state }) => state === wanted).length;
      const [wrong, warnings] = [counted('wrong'), counted('warning')];
      if (wrong > 0 || (strict && warnings > 0))
        throw new PartlyFailed(`wrong: ${wrong}, warnings: ${warnings}. The last column says what to do`);
    });
}

/** All checks run at the same time, and each has its deadline. */
async function examine(connection: Connection): Promise<CheckLine[]> {
  const [services, gateways] = await Promise.all([
    Promise.all(ADMIN_SERVERS.map((service) => examineService(connection, service))),
    Promise.all(connection.gateways.map(examineGateway)),
  ]);
  const { certificate } = connection;
  const noGateway = ok('gateway', 'connection', 'no address given: --gateway http://host:port');
  return [
    ok('bds', 'version', VERSION),
    ...(certificate ? [lineOf('bds', 'certificate', foundExpiry(certificate.endMs))] : []),
    ...services.flatMap(({ lines }) => lines),
    ...clockLines(services.flatMap(({ clock }) => clock ?? [])),
    ...(gateways.length === 0 ? [{ ...noGateway, state: 'skipped' as const }] : gateways.flat()),
  ];
}
