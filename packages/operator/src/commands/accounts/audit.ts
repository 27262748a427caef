import { ADMIN_PORT, ADMIN_SERVERS, type AuditEntry, type ListAuditRequest } from '@brand-data/contracts';
import { Fault, INSTALLATION } from '@brand-data/runtime';
import { Command, Option } from '@commander-js/extra-typings';
import { readPages } from '../../connection/reading.ts';
import { readCount, readTime } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { type Columns, listTable, time } from '../../text/tables.ts';

const MOST_IN_A_PAGE = 1_000;

export function auditCommand(context: Context) {
  const { accounts, output } = context;
  return new Command('audit')
    .description('Show who has changed what, when and from where; the latest change first')
    .option('--operator <name>', 'only the changes of this operator ("installation": by the operator token)')
    .option('--about <id>', 'only changes of this account, key, plan, record, source or operator')
    .option('--method <method>', 'only changes by this gRPC method, such as CreateKey')
    .addOption(new Option('--service <service>', 'only changes at this service').choices(ADMIN_SERVERS))
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
      const readPage = (page: { limit: number; after: string }) =>
        accounts().call((client) => client.listAudit, { ...filters, ...page });
      const { items, next } = await readPages('entries', readPage, pages);
      if (items.length === 0) await requireKnown(context, { operator, method, about });
      const more = next && '\nThere are earlier changes: raise --limit, or use --until.';
      output.answer(
        { entries: items.map(entryToJson), more: next !== '' },
        () => `${listTable(COLUMNS, items, 'There is no such change.')}${more}`,
      );
    });
}

/** Rejects with a Fault unless each filter names something. A typo must not look like a trail without such a change. */
async function requireKnown(
  { accounts, catalog }: Context,
  filters: Partial<ListAuditRequest>,
): Promise<void> {
  const none = { operator: '', service: '', method: '', about: '', after: '', limit: 1 };
  const isInTrail = async (filter: Partial<ListAuditRequest>) => {
    const { entries } = await accounts().call((client) => client.listAudit, { ...none, ...filter });
    return entries.length > 0;
  };
  const { operator = '', method = '', about = '' } = filters;
  if (operator !== '' && operator !== INSTALLATION.name && !(await isInTrail({ operator }))) {
    const { operators } = await accounts().call((client) => client.listOperators, {});
    if (!operators.some(({ name }) => name === operator))
      throw new Fault(
        'not_found',
        `there is no operator ${JSON.stringify(operator)}: bds operator list shows all`,
      );
  }
  const isMethod = [...ADMIN_PORT.roleNeeded.keys()].some((path) => path.endsWith(`/${method}`));
  if (method !== '' && !isMethod && !(await isInTrail({ method })))
    throw new Fault(
      'not_found',
      `there is no method ${JSON.stringify(method)}: write it as CHANGE shows it, such as CreateKey`,
    );
  if (about === '' || (await isInTrail({ about }))) return;
  const found = [
    accounts().call((client) => client.getAccount, { id: about }),
    accounts().call((client) => client.findKey, { by: { $case: 'keyId', value: about } }),
    (async () => catalog().call((client) => client.getBrand, { id: about, refusedLinks: false }))(),
  ] as const;
  await Promise.any(found).catch(() => {
    throw new Fault(
      'not_found',
      `no change is about ${JSON.stringify(about)}, and it is no account, key or record: check it`,
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
