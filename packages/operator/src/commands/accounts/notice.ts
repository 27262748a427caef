import { type Notice, NoticeState } from '@brand-data/contracts';
import { Command, Option } from 'commander';
import { readPages } from '../../connection/pages.ts';
import { UsageError } from '../../connection/usage-error.ts';
import { readCount, readMonth } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { PartlyFailed } from '../../terminal/failures.ts';
import { csvOf } from '../../text/csv.ts';
import { type Columns, listTable, time } from '../../text/tables.ts';

const MOST_IN_A_PAGE = 500;

const STATES = {
  none: NoticeState.NONE,
  pending: NoticeState.PENDING,
  delivered: NoticeState.DELIVERED,
  failed: NoticeState.FAILED,
} as const;
type StateName = keyof typeof STATES;

interface ListOptions {
  account?: string;
  month?: string;
  state?: StateName;
  limit?: number;
  csv?: boolean;
}

export function noticeCommand(context: Context): Command {
  const notice = new Command('notice').description(
    'Show and redeliver notices: metering sends one when an account has used 80 or 100 % of its allowance',
  );
  addList(notice, context);
  addRedeliver(notice, context);
  addTest(notice, context);
  return notice;
}

function addList(notice: Command, { metering, output }: Context): void {
  notice
    .command('list')
    .description('List notices with the state of their delivery to the webhook; the latest first')
    .option('--account <account>', 'only notices about this account')
    .option('--month <month>', 'only notices about this month, YYYY-MM', readMonth)
    .addOption(
      new Option('--state <state>', 'only notices in this state of their delivery').choices(
        Object.keys(STATES),
      ),
    )
    .option('--limit <count>', 'list at most this many notices (default: 100; with --csv: all)', readCount)
    .option('--csv', 'print CSV')
    .addHelpText(
      'after',
      '\npending: the webhook has not accepted the notice yet. failed: metering has given up after eight attempts.' +
        '\nnone: no webhook was set.',
    )
    .action(async ({ account = '', month = '', state, csv = false, ...options }: ListOptions) => {
      const filters = { accountId: account, month, state: state ? STATES[state] : NoticeState.UNSPECIFIED };
      const limit = options.limit ?? (csv ? undefined : 100);
      const { items, next } = await readPages<Notice>({ limit, pageSize: MOST_IN_A_PAGE }, async (page) => {
        const request = { ...filters, ...page };
        const answer = await metering().call((client) => client.listNotices, request);
        return { items: answer.notices, next: answer.next };
      });
      if (csv) return output.text(csvOf(CSV, items));
      const more = next === '' ? '' : '\nThere are earlier notices: raise --limit.';
      output.answer({ notices: items.map(noticeToJson), more: next !== '' }, () =>
        items.length === 0 ? 'There is no such notice.' : `${listTable(TABLE, items)}${more}`,
      );
    });
}

function addRedeliver(notice: Command, { metering, output }: Context): void {
  notice
    .command('redeliver')
    .description('Deliver notices to the webhook again, from the first attempt on')
    .argument('[notice...]', 'the ids of the notices')
    .option('--all-failed', 'all notices that metering has given up')
    .action(async (ids: string[], { allFailed = false }: { allFailed?: boolean }) => {
      if (ids.length === 0 && !allFailed)
        throw new UsageError('give the ids of notices, which bds notice list shows, or --all-failed');
      if (ids.length > 0 && allFailed) throw new UsageError('give ids or --all-failed, not both');
      const again = await metering().call((client) => client.redeliverNotices, { ids });
      const skipped = ids.filter((id) => !again.ids.includes(id));
      output.answer({ redelivered: again.ids, skipped }, () =>
        [
          again.ids.length === 0
            ? 'No notice is delivered again.'
            : `Notices that are delivered again: ${again.ids.length}. bds notice list shows what the webhook answers.`,
          ...skipped.map((id) => `${id}: there is no such notice, or it is being delivered`),
        ].join('\n'),
      );
    });
}

function addTest(notice: Command, { metering, output }: Context): void {
  notice
    .command('test')
    .description('Send a test event to the webhook once, and show what it answers')
    .action(async () => {
      const { id, isAccepted, failure } = await metering().call((client) => client.testWebhook, {});
      output.answer({ id, accepted: isAccepted, failure: failure || null }, () =>
        isAccepted
          ? `The webhook has accepted the event ${id}.`
          : `The webhook has not accepted the event ${id}: ${failure}.`,
      );
      if (!isAccepted) throw new PartlyFailed('the webhook must answer with a status from 200 to 299');
    });
}

function stateOf({ state }: Notice): string {
  return Object.entries(STATES).find(([, value]) => value === state)?.[0] ?? '';
}

function noticeToJson(notice: Notice) {
  const { id, accountId, pool, month, threshold, allowance, used, atMs, isPublished, attempts } = notice;
  return {
    id,
    account: accountId,
    pool,
    month,
    threshold,
    allowance,
    used,
    at: time(atMs),
    published: isPublished,
    delivery: stateOf(notice),
    attempts,
    failure: notice.failure || null,
    last_attempt: time(notice.lastAttemptMs) || null,
    next_attempt: time(notice.nextAttemptMs) || null,
  };
}

const CSV: Columns<Notice> = {
  notice: ({ id }) => id,
  account: ({ accountId }) => accountId,
  pool: ({ pool }) => pool,
  month: ({ month }) => month,
  threshold: ({ threshold }) => threshold,
  allowance: ({ allowance }) => allowance,
  used: ({ used }) => used,
  at: ({ atMs }) => time(atMs),
  published: ({ isPublished }) => String(isPublished),
  delivery: stateOf,
  attempts: ({ attempts }) => attempts,
  failure: ({ failure }) => failure,
};

const TABLE: Columns<Notice> = {
  TIME: ({ atMs }) => time(atMs),
  NOTICE: ({ id }) => id,
  PASSED: ({ threshold }) => `${threshold} %`,
  USED: ({ used, allowance }) => `${used} of ${allowance}`,
  DELIVERY: stateOf,
  ATTEMPTS: ({ attempts }) => String(attempts),
  'NEXT ATTEMPT': ({ nextAttemptMs }) => time(nextAttemptMs),
  FAILURE: ({ failure }) => failure,
};
