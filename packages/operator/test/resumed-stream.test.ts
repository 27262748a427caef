import { allOf } from '@brand-data/importers/test/all-of.ts';
import { Fault } from '@brand-data/runtime';
import { expect, test } from 'vitest';
import { resumedStream } from '../src/connection/reading.ts';

test('a broken stream is asked for again from its last message, also if that message is empty', async () => {
  const asked: string[] = [];
  async function* read(after: string) {
    asked.push(after);
    if (after === '') {
      yield { paths: [], after: 'company-1' };
      throw new Fault('unavailable', 'the connection ended');
    }
    yield { paths: ['logos/a.svg'], after: 'company-2' };
  }
  expect(await allOf(resumedStream(read))).toEqual([
    { paths: [], after: 'company-1' },
    { paths: ['logos/a.svg'], after: 'company-2' },
  ]);
  expect(asked).toEqual(['', 'company-1']);
});
