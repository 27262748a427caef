import type { Notice } from './notice.ts';

/** The media type of an event in the JSON format of CloudEvents. */
export const CLOUD_EVENT_TYPE = 'application/cloudevents+json';

/** The value of `type` in events of notices. */
const THRESHOLD_PASSED = 'brand-data.allowance.threshold-passed';
const TEST = 'brand-data.notice.test';
const SOURCE = '/brand-data/metering';

/**
 * Returns a CloudEvent 1.0 in its JSON format. The same notice always gives the same text. services/metering/README.md shows one.
 */
export function cloudEventOf({ id, at, accountId, pool, month, allowance, threshold, used }: Notice): string {
  return eventText({
    id,
    type: THRESHOLD_PASSED,
    time: at,
    subject: accountId,
    data: { account: accountId, pool, month, threshold, allowance, used },
  });
}

/** Returns an event by which an operator tries out a webhook. */
export function testEvent(id: string, at: Date): string {
  return eventText({ id, type: TEST, time: at, data: { message: 'bds notice test has sent this event' } });
}

function eventText(event: { id: string; type: string; time: Date; subject?: string; data: object }): string {
  const { time, data, ...attributes } = event;
  return JSON.stringify({
    specversion: '1.0',
    source: SOURCE,
    ...attributes,
    time: time.toISOString(),
    datacontenttype: 'application/json',
    data,
  });
}
