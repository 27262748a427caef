import { CatalogChanged } from '@brand-data/contracts';
import { describe, expect, test } from 'vitest';
import { createChangeReader } from '../src/records/catalog-changes.ts';

/** Longer than a series may be silent. */
const SILENT_TICKS = 6;

/** Makes a reader, and notes the keys that it expires. */
function setUp() {
  const expired: number[][] = [];
  const reasons: string[] = [];
  const records = { expire: (keys: readonly number[]) => void expired.push([...keys]), expireAll: () => {} };
  const reader = createChangeReader(records, (reason) => reasons.push(reason));
  const tick = (times: number) => {
    for (let time = 0; time < times; time++) reader.tick();
  };
  const hear = (message: Partial<CatalogChanged>) =>
    reader.read({ ...CatalogChanged.fromPartial({ series: 'a' }), ...message });
  return { reader, tick, hear, expired, reasons };
}

test('a whole series expires what depends on its keys, and nothing else', () => {
  const { tick, hear, expired, reasons } = setUp();
  hear({ number: 0 });
  tick(SILENT_TICKS - 1);
  hear({ number: 1, keys: [1, 2] });
  hear({ number: 2, keys: [3], last: true });
  tick(2 * SILENT_TICKS);
  expect(expired).toEqual([[], [1, 2], [3]]);
  expect(reasons).toEqual([]);
});

describe('all records expire', () => {
  test('when a message of a series is missing', () => {
    const { hear, reasons } = setUp();
    hear({ number: 0 });
    hear({ number: 2 });
    expect(reasons).toEqual(['missed_message']);
    hear({ number: 3, last: true });
    expect(reasons).toHaveLength(1);
  });

  test('when the beginning of a series is missing, once', () => {
    const { hear, reasons } = setUp();
    hear({ number: 1 });
    expect(reasons).toEqual(['missed_message']);
    hear({ number: 2 });
    expect(reasons).toHaveLength(1);
  });

  test('when a series falls silent before its end, once', () => {
    const { tick, hear, reasons } = setUp();
    hear({ number: 0 });
    tick(SILENT_TICKS - 1);
    expect(reasons).toEqual([]);
    tick(2 * SILENT_TICKS);
    expect(reasons).toEqual(['missed_message']);
  });

  test('after a reconnect, and once more when a series of the time before goes on', () => {
    const { reader, hear, reasons } = setUp();
    hear({ number: 0 });
    reader.reconnected();
    expect(reasons).toEqual(['reconnect']);
    hear({ number: 7 });
    hear({ number: 8 });
    expect(reasons).toEqual(['reconnect', 'missed_message']);
  });

  test('when catalog has more changes than it can name', () => {
    const { hear, reasons } = setUp();
    hear({ number: 0, everyRecord: true });
    expect(reasons).toEqual(['many_changes']);
  });
});
