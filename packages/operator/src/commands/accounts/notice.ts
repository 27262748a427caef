import { type Notice, NoticeState } from '@brand-data/contracts';
import { Command, Option } from 'commander';
import { UsageError } from '../../connection/connection.ts';
import { readCount, readMonth } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { csv } from '../../text/csv.ts';
import { table, time } from '../../text/tables.ts';

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

/** The webhook has not accepted the test event. */
class NotAccepted extends Error {
  override readonly name = 'NotAccepted';
}

export function noticeCommand({ connect, output }: Context): Command {
  const notice = new Command('notice').description(
    'Show and redeliver notices: metering sends one when an account has used 80 or 100 % of its allowance',
  );

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
    .action(async ({ account = '', month = '', state, csv: asCsv = false, ...options }: ListOptions) => {
      const limit = options.limit ?? (asCsv ? Number.POSITIVE_INFINITY : 100);
      const filters = {
        accountId: account,
        month,
        state: state ? STATES[state] : NoticeState.UNSPECIFIED,
      };
      const metering = connect().metering();
      const notices: Notice[] = [];
      let after = '';
      do {
        const page = { limit: Math.min(limit - notices.length, MOST_IN_A_PAGE), after };
        const answer = await metering.call((client) => client.listNotices, { ...filters, ...page });
        notices.push(...answer.notices);
        after = answer.next;
      } while (after !== '' && notices.length < limit);
      if (asCsv) output.text(noticeCsv(notices));
      else
        output.answer({ notices: notices.map(noticeToJson), more: after !== '' }, () =>
          notices.length === 0 ? 'There is no such notice.' : noticeTable(notices, after !== ''),
        );
    });

  notice
    .command('redeliver')
    .description('Deliver notices to the webhook again, from the first attempt on')
    .argument('[notice...]', 'the ids of the notices')
    .option('--all-failed', 'all notices that metering has given up')
    .action(async (ids: string[], { allFailed = false }: { allFailed?: boolean }) => {
      if (ids.length === 0 && !allFailed)
        throw new UsageError('give the ids of notices, which bds notice list shows, or --all-failed');
      if (ids.length > 0 && allFailed) throw new UsageError('give ids or --all-failed, not both');
      const again = await connect()
        .metering()
        .call((client) => client.redeliverNotices, { ids });
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

  notice
    .command('test')
    .description('Send a test event to the webhook once, and show what it answers')
    .action(async () => {
      const { id, isAccepted, failure } = await connect()
        .metering()
        .call((client) => client.testWebhook, {});
      output.answer({ id, accepted: isAccepted, failure: failure || null }, () =>
        isAccepted
          ? `The webhook has accepted the event ${id}.`
          : `The webhook has not accepted the event ${id}: ${failure}.`,
      );
      if (!isAccepted) throw new NotAccepted('the webhook must answer with a status from 200 to 299');
    });

  return notice;
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

function noticeCsv(notices: readonly Notice[]): string {
  const headers = [
    'notice',
    'account',
    'pool',
    'month',
    'threshold',
    'allowance',
    'used',
    'at',
    'published',
    'delivery',
    'attempts',
    'failure',
  ];
  const rows = notices.map((notice) => [
    notice.id,
    notice.accountId,
    notice.pool,
    notice.month,
    notice.threshold,
    notice.allowance,
    notice.used,
    time(notice.atMs),
    String(notice.isPublished),
    stateOf(notice),
    notice.attempts,
    notice.failure,
  ]);
  return csv(headers, rows);
}

function noticeTable(notices: readonly Notice[], more: boolean): string {
  const rows = notices.map((notice) => [
    time(notice.atMs),
    notice.id,
    `${notice.threshold} %`,
    `${notice.used} of ${notice.allowance}`,
    stateOf(notice),
    String(notice.attempts),
    time(notice.nextAttemptMs),
    notice.failure,
  ]);
  const headers = ['TIME', 'NOTICE', 'PASSED', 'USED', 'DELIVERY', 'ATTEMPTS', 'NEXT ATTEMPT', 'FAILURE'];
  const shown = table(headers, rows);
  return more ? `${shown}\nThere are earlier notices: raise --limit.` : shown;
}
