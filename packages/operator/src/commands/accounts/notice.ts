import { type Notice, NoticeState } from '@brand-data/contracts';
import { Command, Option } from '@commander-js/extra-typings';
import { PartlyFailed, UsageError } from '../../connection/failures.ts';
import { readPages } from '../../connection/reading.ts';
import { readCount, readMonth } from '../../options/readers.ts';
import { type Context, commandGroup } from '../../terminal/context.ts';
import { type Columns, csvOf, fieldColumns, listTable, time } from '../../text/tables.ts';
import { valueNamed, wordOf } from '../../text/words.ts';

const MOST_IN_A_PAGE = 500;
const STATES = ['none', 'pending', 'delivered', 'failed'];

export function noticeCommand(context: Context) {
  const description =
    'Show and redeliver notices: metering sends one when an account has used 80 or 100 % of its allowance';
  return commandGroup(context, 'notice', description, [list, redeliver, sendTest]);
}

function list({ accounts, metering, output }: Context) {
  return new Command('list')
    .description('List notices with the state of their delivery to the webhook; the latest first')
    .option('--account <account>', 'only notices about this account')
    .option('--month <month>', 'only notices about this month, YYYY-MM', readMonth)
    .addOption(new Option('--state <state>', 'only notices in this state of their delivery').choices(STATES))
    .option('--limit <count>', 'list at most this many notices (default: 100; with --csv: all)', readCount)
    .option('--csv', 'print CSV')
    .addHelpText(
      'after',
      '\npending: the webhook has not accepted the notice yet. failed: metering has given up after eight attempts.' +
        '\nnone: no webhook was set.',
    )
    .action(async ({ account = '', month = '', state, csv, limit = csv ? undefined : 100 }) => {
      const filters = {
        accountId: account,
        month,
        state: valueNamed(NoticeState, state) ?? NoticeState.UNSPECIFIED,
      };
      const pages = { limit, pageSize: MOST_IN_A_PAGE };
      const readPage = (page: { limit: number; after: string }) =>
        metering().call((client) => client.listNotices, { ...filters, ...page });
      const { items, next } = await readPages('notices', readPage, pages);
      // A typo must not look like an account without notices.
      if (items.length === 0 && account !== '')
        await accounts().call((client) => client.getAccount, { id: account });
      const documents = items.map(noticeToJson);
      if (csv) return output.text(csvOf(CSV, documents));
      const more = next && '\nThere are earlier notices: raise --limit.';
      output.answer(
        { notices: documents, more: next !== '' },
        () => `${listTable(TABLE, items, 'There is no such notice.')}${more}`,
      );
    });
}

function redeliver({ metering, output }: Context) {
  return new Command('redeliver')
    .description('Deliver notices to the webhook again, from the first attempt on')
    .argument('[notice...]', 'the ids of the notices')
    .option('--all-failed', 'all notices that metering has given up')
    .action(async (ids, { allFailed }) => {
      if (ids.length === 0 && !allFailed)
        throw new UsageError('give the ids of notices, which bds notice list shows, or --all-failed');
      if (ids.length > 0 && allFailed) throw new UsageError('give ids or --all-failed, not both');
      const again = await metering().call((client) => client.redeliverNotices, { ids });
      const skipped = ids.filter((id) => !again.ids.includes(id));
      output.answer({ redelivered: again.ids, skipped }, () => [
        again.ids.length === 0
          ? 'No notice is delivered again.'
          : `Notices that are delivered again: ${again.ids.length}. bds notice list shows what the webhook answers.`,
        skipped.map((id) => `${id}: there is no such notice, or it is being delivered`),
      ]);
      if (skipped.length > 0) throw new PartlyFailed(`not delivered again: ${skipped.join(', ')}`);
    });
}

function sendTest({ metering, output }: Context) {
  return new Command('test')
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
    delivery: wordOf(NoticeState, notice.state),
    attempts,
    failure: notice.failure || null,
    last_attempt: time(notice.lastAttemptMs) || null,
    next_attempt: time(notice.nextAttemptMs) || null,
  };
}

const CSV: Columns<ReturnType<typeof noticeToJson>> = {
  notice: ({ id }) => id,
  ...fieldColumns('account', 'pool', 'month', 'threshold', 'allowance', 'used', 'at'),
  published: ({ published }) => String(published),
  ...fieldColumns('delivery', 'attempts', 'failure'),
};

const TABLE: Columns<Notice> = {
  TIME: ({ atMs }) => time(atMs),
  NOTICE: ({ id }) => id,
  PASSED: ({ threshold }) => `${threshold} %`,
  USED: ({ used, allowance }) => `${used} of ${allowance}`,
  DELIVERY: ({ state }) => wordOf(NoticeState, state),
  ATTEMPTS: ({ attempts }) => String(attempts),
  'NEXT ATTEMPT': ({ nextAttemptMs }) => time(nextAttemptMs),
  FAILURE: ({ failure }) => failure,
};
