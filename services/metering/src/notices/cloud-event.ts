import { NOTICES_STREAM, noticeSubject } from '@brand-data/contracts';
import type { Nats } from '@brand-data/runtime';
import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import type { Notice } from './notice.ts';

const PUBLISH_WITHIN_MS = 2_000;

/** The media type of an event in the JSON format of CloudEvents. */
export const CLOUD_EVENT_TYPE = 'application/cloudevents+json';

/**
 * Returns a CloudEvent 1.0 in its JSON format. The same notice always gives the same text. services/metering/README.md shows one.
 */
export function cloudEventOf({ id, at, accountId, pool, month, allowance, threshold, used }: Notice): string {
  return eventText({
    id,
    type: 'brand-data.allowance.threshold-passed',
    time: at,
    subject: accountId,
    data: { account: accountId, pool, month, threshold, allowance, used },
  });
}

/** Returns an event by which an operator tries out a webhook. */
export function testEvent(id: string, at: Date): string {
  return eventText({
    id,
    type: 'brand-data.notice.test',
    time: at,
    data: { message: 'bds notice test has sent this event' },
  });
}

function eventText(event: { id: string; type: string; time: Date; subject?: string; data: object }): string {
  const { time, data, ...attributes } = event;
  return JSON.stringify({
    specversion: '1.0',
    source: '/brand-data/metering',
    ...attributes,
    time: time.toISOString(),
    datacontenttype: 'application/json',
    data,
  });
}

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
