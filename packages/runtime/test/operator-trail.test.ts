import { Registry } from 'prom-client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Fault } from '../src/base/fault.ts';
import { Trail, type TrailEvent } from '../src/operators/operator-trail.ts';
import type { Service } from '../src/service/service.ts';

const CALL = {
  operator: { name: 'ana', role: 'all', credentialId: 'opc-1' },
  from: '127.0.0.1:9',
  requestId: 'run',
};
const TOLD = { method: 'DeleteBrand', about: ['acme'], details: { id: 'acme' } };

function openTrail(isStored: () => boolean = () => true) {
  const events: TrailEvent[] = [];
  const lines: unknown[] = [];
  const metrics = new Registry();
  const log = { info: (line: unknown) => lines.push(line), error: (line: unknown) => lines.push(line) };
  let stop: () => unknown = () => {};
  const onStop: Service['onStop'] = (_, stopped) => {
    stop = stopped;
  };
  const trail = new Trail({ log, metrics, onStop } as unknown as Service, async (event) => {
    if (!isStored()) throw new Error('no answer');
    events.push(event);
  });
  const failures = async () => {
    const found = await metrics.getSingleMetric('grpc_operator_trail_failures_total')?.get();
    return Object.fromEntries((found?.values ?? []).map(({ labels, value }) => [labels.stage, value]));
  };
  return { trail, events, lines, failures, stop: async () => void (await stop()) };
}

test('a change is made only after the trail has stored that it begins', async () => {
  const { trail, events } = openTrail();
  let known = 0;
  await trail.record(CALL, TOLD, async () => {
    known = events.length;
  });
  expect(known).toBe(1);
  expect(events.map(({ counts }) => counts)).toEqual([{ calls: 1 }, { calls: 1, done: 1 }]);
  expect(events[0]).toMatchObject({ ...TOLD, call: CALL, entry: events[1]?.entry, part: events[1]?.part });
});

test('without a trail nothing is changed, and the caller learns that', async () => {
  const { trail, failures } = openTrail(() => false);
  let changes = 0;
  const change = trail.record(CALL, TOLD, async () => {
    changes += 1;
  });
  await expect(change).rejects.toMatchObject({ kind: 'unavailable', message: /nothing was changed/ });
  expect(changes).toBe(0);
  expect(await failures()).toEqual({ before: 1, after: 0 });
});

test('a change whose outcome the trail could not store is answered, counted and told in the log', async () => {
  let stored = 0;
  const { trail, lines, failures } = openTrail(() => ++stored === 1);
  expect(await trail.record(CALL, TOLD, async () => 'answer')).toBe('answer');
  expect(await failures()).toEqual({ before: 0, after: 1 });
  expect(JSON.stringify(lines)).toContain('"counts":{"calls":1,"done":1}');
});

test('a failed change is in the trail with its reason, but the text of a defect is not', async () => {
  const { trail, events } = openTrail();
  const failing = (error: Error) =>
    trail.record(CALL, TOLD, async () => {
      throw error;
    });
  await expect(failing(new Fault('not_found', 'there is no such record'))).rejects.toThrow();
  await expect(failing(new TypeError('of undefined'))).rejects.toThrow(TypeError);
  const ends = events.filter(({ counts }) => counts.failed === 1);
  expect(ends.map(({ details }) => details.failure)).toEqual(['there is no such record', 'internal error']);
});

test('calls that share an entry add up in one part, and those of another operator, import or process do not', async () => {
  const { trail, events, lines, stop } = openTrail();
  const told = { ...TOLD, sharedBy: 'mine 1' };
  const put = (call: typeof CALL, more: object, created: number) =>
    trail.record(
      call,
      { ...told, ...more },
      async () => created,
      (count) => ({ created: count }),
    );
  await Promise.all([put(CALL, {}, 3), put(CALL, {}, 4), put(CALL, {}, 5)]);
  await stop();
  expect(new Set(events.map(({ entry, part }) => `${entry} ${part}`)).size).toBe(1);
  expect(events.at(-1)?.counts).toEqual({ calls: 3, done: 3, created: 12 });
  const [{ entry, part } = { entry: '', part: '' }] = events;

  const ben = { ...CALL, operator: { ...CALL.operator, name: 'ben' } };
  await put(ben, {}, 1);
  await put(CALL, { sharedBy: 'mine 2' }, 1);
  expect(new Set(events.map((event) => event.entry)).size).toBe(3);

  const elsewhere = openTrail();
  await elsewhere.trail.record(CALL, told, async () => undefined);
  expect(elsewhere.events[0]?.entry).toBe(entry);
  expect(elsewhere.events[0]?.part).not.toBe(part);
  expect(lines.length).toBeLessThanOrEqual(5);
});

test('the calls of an import are stored once a second, and the last of them within a second', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { trail, events } = openTrail();
  for (let call = 0; call < 1_000; call++) {
    await trail.record(CALL, { ...TOLD, sharedBy: 'mine 1' }, async () => undefined);
    await vi.advanceTimersByTimeAsync(5);
  }
  expect(events.length).toBeLessThanOrEqual(8);
  expect(events[0]?.counts).toEqual({ calls: 1 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(events.at(-1)?.counts).toEqual({ calls: 1_000, done: 1_000 });
});

test('while the trail cannot be written, an import goes on for a second at most', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  let isThere = true;
  const { trail, failures } = openTrail(() => isThere);
  const put = () => trail.record(CALL, { ...TOLD, sharedBy: 'mine 1' }, async () => undefined);
  await put();
  isThere = false;
  await put();
  await vi.advanceTimersByTimeAsync(1_000);
  await expect(put()).rejects.toThrow('nothing was changed');
  await expect(put()).rejects.toThrow('nothing was changed');
  expect(await failures()).toEqual({ before: 2, after: 1 });
});

test('the calls of any number of imports take bounded memory, and none is lost', async () => {
  const { trail, events, stop } = openTrail();
  for (let i = 0; i < 1_500; i++)
    await trail.record(CALL, { ...TOLD, sharedBy: `${i}` }, async () => undefined);
  await trail.record(CALL, { ...TOLD, sharedBy: '0' }, async () => undefined);
  await stop();
  const first = events.filter(({ sharedBy }) => sharedBy === '0');
  expect(new Set(first.map(({ entry }) => entry)).size).toBe(1);
  expect(new Set(first.map(({ part }) => part)).size).toBe(2);
  expect(first.map(({ counts }) => counts.calls)).toEqual([1, 1, 1, 1]);
});
