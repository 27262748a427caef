import { expect, test } from 'vitest';
import { parseConfig } from '../../../packages/runtime/src/config.ts';
import { serviceSpec } from '../src/config.ts';

test.each(['0', '-1', '1048575', '2000000.5', ''])(
  'a cache of records of %j bytes, which might have no bound, is refused at the start with the reason',
  (bytes) => {
    expect(() => parseConfig({ RECORD_CACHE_BYTES: bytes }, serviceSpec)).toThrow(
      /\n {2}RECORD_CACHE_BYTES: must be a whole number of bytes, at least 1048576 \(/,
    );
  },
);
