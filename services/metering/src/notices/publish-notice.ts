import { NOTICES_STREAM, noticeSubject } from '@brand-data/contracts';
import type { Nats } from '@brand-data/runtime';
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { CLOUD_EVENT_TYPE, cloudEventOf } from './cloud-event.ts';
import type { Notice } from './notice.ts';

const PUBLISH_WITHIN_MS = 2_000;

/**
 * Puts the notice into the stream of notices. Each notice has a different subject, and the stream takes only one message of a
 * subject. The stream therefore has the notice once, however often it is published.
 */
export async function publishNotice({ publish }: Pick<Nats, 'publish'>, notice: Notice): Promise<void> {
  try {
    await publish('notice', noticeSubject(notice), Buffer.from(cloudEventOf(notice)), {
      timeout: PUBLISH_WITHIN_MS,
      expect: { streamName: NOTICES_STREAM, lastSubjectSequence: 0 },
      headers: { 'content-type': CLOUD_EVENT_TYPE },
    });
  } catch (error) {
    const isThere =
      error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence;
    if (!isThere) throw error;
  }
}
