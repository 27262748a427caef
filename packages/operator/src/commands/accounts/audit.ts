import type { AuditEntry } from '@brand-data/contracts';
import { Command } from '@commander-js/extra-typings';
import { readPages } from '../../connection/reading.ts';
import { readCount, readTime } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { type Columns, listTable, time } from '../../text/tables.ts';

const MOST_IN_A_PAGE = 1_000;

export function auditCommand({ accounts, output }: Context) {
  return new Command('audit')
    .description('Show who has changed what, when and from where; the latest change first')
    .option('--operator <name>', 'only the changes of this operator ("installation": by the operator token)')
    .option('--about <id>', 'only changes of this account, key, plan, record, source or operator')
    .option('--method <method>', 'only changes by this gRPC method, such as CreateKey')
    .option('--service <service>', 'only changes at accounts, catalog, metering or images')
    .option(
      '--since <time>',
      'only changes from this time on: YYYY-MM-DD (00:00 UTC) or YYYY-MM-DDTHH:MM:SSZ',
      readTime,
    )
    .option('--until <time>', 'only changes before this time', readTime)
    .option('--limit <count>', 'show at most this many changes', readCount, 100)
    .action(async ({ operator = '', service = '', method = '', about = '', since, until, limit }) => {
      const filters = { operator, service, method, about, sinceMs: since, untilMs: until };
      const pages = { limit, pageSize: MOST_IN_A_PAGE };
      const { items, next } = await readPages<AuditEntry>(pages, async (page) => {
        const answer = await accounts().call((client) => client.listAudit, { ...filters, ...page });
        return { items: answer.entries, next: answer.next };
      });
      const more = next && '\nThere are earlier changes: raise --limit, or use --until.';
      output.answer(
        { entries: items.map(entryToJson), more: next !== '' },
        () => `${listTable(COLUMNS, items, 'There is no such change.')}${more}`,
      );
    });
}

function entryToJson({ id, atMs, lastAtMs, credentialId, requestId, ...entry }: AuditEntry) {
  const { service, method, operator, role, from, details, outcome, counts } = entry;
  return {
    id,
    at: time(atMs),
    operator,
    role,
    credential: credentialId || null,
    service,
    method,
    details,
    outcome,
    from,
    request_id: requestId,
    ...(Object.keys(counts).length > 0 && { counts, last_at: time(lastAtMs) }),
  };
}

const COLUMNS: Columns<AuditEntry> = {
  TIME: ({ atMs }) => time(atMs),
  OPERATOR: ({ operator }) => operator,
  ROLE: ({ role }) => role,
  CHANGE: ({ service, method }) => `${service}.${method}`,
  OUTCOME: ({ outcome }) => outcome,
  FROM: ({ from }) => from,
  DETAILS: ({ details, counts }) =>
    [...Object.entries(details), ...shownCounts(counts)]
      .map(([name, value]) => `${name}=${/^[^\s="]+$/.test(value) ? value : JSON.stringify(value)}`)
      .join(' '),
};

/** Returns the counts that say more than the outcome does. */
function shownCounts(counts: Readonly<Record<string, number>>): [string, string][] {
  return Object.entries(counts).flatMap(([name, value]) =>
    value === 0 || name === 'done' || (name === 'calls' && value === 1) ? [] : [[name, String(value)]],
  );
}
