import { type RestoreResult, readManifest, restore } from '@brand-data/backup';
import { DATABASE_SERVICES } from '@brand-data/contracts';
import { Command } from '@commander-js/extra-typings';
import { Interrupted, UsageError } from '../../connection/failures.ts';
import { readTime } from '../../options/readers.ts';
import { type Context, confirm, YES_OPTION } from '../../terminal/context.ts';
import type { Text } from '../../terminal/output.ts';
import { figure } from '../../text/reports.ts';
import { facts } from '../../text/tables.ts';
import { databaseNames, databaseOption, onlyOption, readServers } from './backup.ts';

/** Ending a restore takes about a minute for each 20,000 ledgers. */
const END_WITHIN_MS = 6 * 3_600_000;

export function restoreCommand(context: Context) {
  const { accounts, metering, env, output, pathOf, shown, interruption } = context;
  return new Command('restore')
    .description(
      'Restore a copy of bds backup while accounts, catalog, metering and images are stopped, and finish when they run. Needs MONGODB_URL and NATS_URL',
    )
    .requiredOption('--from <folder>', 'the folder of the copy')
    .addOption(onlyOption())
    .addOption(databaseOption())
    .option('--replace', 'remove what the databases hold; needs --yes or your answer')
    .option('--gateways-stopped', 'do not wait until the grants of gateways end, because no gateway runs')
    .option(
      '--metering-stopped-at <time>',
      'when the last replica of metering ended (default: now); gateways hold grants for up to 10.5 minutes after it',
      readTime,
    )
    .option(
      '--revoke-changed-keys',
      'revoke the keys that were changed after the copy, because some may have been revoked',
    )
    .option(...YES_OPTION)
    .action(async ({ from, only, database, ...options }) => {
      const folder = pathOf(from);
      const manifest = await readManifest(folder);
      const copied = manifest.databases.map(({ service }) => service);
      const services = only ?? DATABASE_SERVICES.filter((service) => copied.includes(service));
      const servers = readServers(
        env,
        (service) => service === 'metering' || service === 'accounts',
        services,
      );
      const { replace = false, gatewaysStopped = false, revokeChangedKeys = false } = options;
      const stoppedAtMs = options.meteringStoppedAt ?? Date.now();
      if (stoppedAtMs > Date.now()) throw new UsageError('--metering-stopped-at is in the future');
      if (replace)
        await confirm(
          context,
          `Replacing the databases of ${services.join(', ')} cannot be undone`,
          options.yes,
        );
      // Throws at once if the address of one is missing.
      for (const service of ['accounts', 'metering'] as const)
        if (services.includes(service)) context[service]();
      const signal = interruption();
      let isWriting = false;
      const result = await restore({
        servers,
        restored: {
          finishRestore: (request) =>
            accounts().call((client) => client.finishRestore, request, END_WITHIN_MS),
          replayUsage: (requests) =>
            metering().sendStream((client) => client.replayUsage, requests, END_WITHIN_MS),
        },
        folder,
        services,
        replace,
        gatewaysStopped,
        revokeChangedKeys,
        signal,
        meteringStoppedAt: new Date(stoppedAtMs),
        databaseOf: databaseNames(database),
        onWriting: () => {
          isWriting = true;
        },
        onRestored: () => output.notice('the databases are restored: start the services now'),
        onProgress: (what, count) =>
          output.progress(() => (count === undefined ? what : `${what}; ${figure(count)} so far`)),
      }).catch((error: unknown) => {
        if (signal.aborted)
          throw new Interrupted(
            isWriting
              ? 'stopped: restore again with --replace before you start the services'
              : 'stopped: nothing was changed',
          );
        throw error;
      });
      output.progress();
      const { manifest: _, ...document } = result;
      output.answer({ folder: shown(folder), ...document }, () => textOf(result));
    });
}

function textOf({ manifest, documents, usage, changes }: RestoreResult): Text {
  return [
    facts([
      ['Copy ended', manifest.endedAt],
      ['Documents', figure(documents)],
      ['Usage messages', usage && figure(usage.messages)],
      ['Calls billed from them', usage && figure(usage.billed)],
      ['Grants closed', usage && figure(usage.closed)],
      ['Later grants', usage && figure(usage.adopted)],
      ['Calls disputed', usage && figure(usage.disputed)],
    ]),
    usage?.gone.map(
      (stream) => `${stream} was lost after the copy: what it had after ${manifest.endedAt} is not billed.`,
    ),
    usage?.lost.map(
      ({ stream, messages }) =>
        `${figure(messages)} messages of ${stream} are gone: some of their calls may not be billed.`,
    ),
    changes && textOfChanges(changes),
  ];
}

export function textOfChanges(changes: NonNullable<RestoreResult['changes']>): Text {
  const { complete, keys, accounts, plans, validKeys, revoked, deletedAccounts } = changes;
  const list = (what: string, ids: readonly string[]) =>
    ids.length > 0 ? `  ${what}: ${ids.join(', ')}` : undefined;
  const known = [
    list('plans', plans),
    list('accounts', accounts),
    list('keys', keys),
    list(
      revoked ? 'revoked by this restore' : 'valid again, perhaps after they were revoked',
      validKeys.map(({ id, accountId }) => `${id} (${accountId})`),
    ),
    list('deleted again by this restore', deletedAccounts),
  ].filter((line) => line !== undefined);
  const search =
    'NATS does not know all changes after the copy. Search the log of accounts for "an operator made a change".';
  if (known.length === 0) return complete ? 'No operator has changed anything after the copy.' : search;
  const title = 'Operators have changed this after the copy. Make the changes again:';
  return [complete ? title : `${search} It knows of:`, known];
}
