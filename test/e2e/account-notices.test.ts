import { readAccountNotices } from '@brand-data/backup/src/nats-messages.ts';
import { openNats } from '@brand-data/backup/src/servers.ts';
import {
  ACCOUNT_BEATS_SUBJECTS,
  ACCOUNT_CHANGES_STREAM,
  ACCOUNT_CHANGES_SUBJECTS,
  AccountChanged,
  accountBeatsSubject,
  accountChangesSubject,
} from '@brand-data/contracts';
import { startTestNats } from '@brand-data/testing/servers';
import { jetstream } from '@nats-io/jetstream';
import { expect, test } from 'vitest';

const openTestNats = (server: { url: string }) =>
  openNats({ NATS_URL: server.url, NATS_CA: undefined, MONGODB_URL: '', MONGODB_CA: undefined });
const STREAM = {
  name: ACCOUNT_CHANGES_STREAM,
  subjects: [ACCOUNT_CHANGES_SUBJECTS, ACCOUNT_BEATS_SUBJECTS],
  max_msgs_per_subject: 1,
};
const noticeOf = (revision: number) =>
  AccountChanged.encode({ subject: { $case: 'keyId', value: `key-${revision}` }, revision }).finish();

const CHANGES = 700;
/** Longer than one answer may take. */
const FROZEN_MS = 6_000;

test('a restore learns of every change of keys since the copy, even if NATS answers nothing for seconds meanwhile', {
  timeout: 120_000,
}, async () => {
  const server = await startTestNats();
  const signal = (how: NodeJS.Signals) => process.kill(server.child.pid ?? 0, how);
  const nats = await openTestNats(server);
  try {
    await nats.manager.streams.add(STREAM);
    const js = jetstream(nats.connection);
    const copiedAt = new Date();
    for (let revision = 1; revision <= CHANGES; revision++) {
      await js.publish(accountChangesSubject(revision), noticeOf(revision));
      await js.publish(accountBeatsSubject('a-gateway'), new Uint8Array([255]));
    }
    let looks = 0;
    // The second time, some changes are read and some are not.
    const frozen = {
      throwIfAborted: () => {
        looks += 1;
        if (looks !== 2) return;
        signal('SIGSTOP');
        setTimeout(() => signal('SIGCONT'), FROZEN_MS);
      },
    };
    const { complete, notices } = await readAccountNotices(nats, copiedAt, frozen as AbortSignal);
    expect(notices.map(({ revision }) => revision)).toEqual(
      Array.from({ length: CHANGES }, (_, index) => index + 1),
    );
    expect(complete).toBe(true);
  } finally {
    signal('SIGCONT');
    await nats.connection.close();
    await server.stop();
  }
});

test('a restore knows that it does not know all changes, if an answer of NATS has replaced a notice', async () => {
  const server = await startTestNats();
  const nats = await openTestNats(server);
  try {
    await nats.manager.streams.add(STREAM);
    const js = jetstream(nats.connection);
    const copiedAt = new Date();
    for (const revision of [1, 2, 3]) await js.publish(accountChangesSubject(revision), noticeOf(revision));
    expect(await readAccountNotices(nats, copiedAt, new AbortController().signal)).toMatchObject({
      complete: true,
      notices: [{ revision: 1 }, { revision: 2 }, { revision: 3 }],
    });
    for (const { what, reply } of [
      { what: '$JS.API.INFO', reply: accountChangesSubject(2) },
      { what: `$JS.API.STREAM.INFO.${ACCOUNT_CHANGES_STREAM}`, reply: accountChangesSubject(4) },
    ])
      nats.connection.publish(what, '', { reply });
    nats.connection.publish(accountChangesSubject(5));
    await expect
      .poll(async () => (await nats.manager.streams.info(ACCOUNT_CHANGES_STREAM)).state.last_seq)
      .toBe(6);
    expect(await readAccountNotices(nats, copiedAt, new AbortController().signal)).toMatchObject({
      complete: false,
      notices: [{ revision: 1 }, { revision: 3 }],
    });
  } finally {
    await nats.connection.close();
    await server.stop();
  }
});
