import { Problem } from '@brand-data/servers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseOptions } from '../src/options.ts';

const FOLDERS = { root: '/project', cwd: '/home/me' };

test('without arguments there is one gateway on port 8080, and the data is in a folder of the project', () => {
  expect(parseOptions([], FOLDERS)).toEqual({
    help: false,
    mcp: false,
    watch: false,
    inspect: false,
    gateways: 1,
    port: 8080,
    dataDir: '/project/.local',
  });
});

test('given options are used, and a relative data folder is relative to the working directory', () => {
  const gateways = fc.integer({ min: 1, max: 8 });
  const port = fc.integer({ min: 1, max: 65_528 });
  fc.assert(
    fc.property(gateways, port, (gateways, port) => {
      const args = ['--gateways', String(gateways), `--port=${port}`, '--data', 'other'];
      expect(parseOptions(args, FOLDERS)).toEqual({
        help: false,
        mcp: false,
        watch: false,
        inspect: false,
        gateways,
        port,
        dataDir: '/home/me/other',
      });
    }),
  );
});

test('any other argument is refused with a Problem of one line', () => {
  const wrong = fc.oneof(
    fc.tuple(
      fc.constantFrom('--gateways', '--port'),
      fc.string().filter((text) => !/^\d+$/.test(text)),
    ),
    fc.tuple(
      fc.constant('--gateways'),
      fc.integer({ min: 9 }).map((value) => String(value)),
    ),
    fc.tuple(
      fc.constant('--port'),
      fc.integer({ min: 65_536 }).map((value) => String(value)),
    ),
    fc.constantFrom(
      ['--gateways', '2', '--port', '65535'],
      ['--unknown'],
      ['--gateways', '- '],
      ['stray'],
      ['--data'],
      ['--data', ''],
      ['--help=yes'],
    ),
  );
  fc.assert(
    fc.property(wrong, (args) => {
      let message = 'accepted';
      try {
        parseOptions([...args], FOLDERS);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        message = error.message;
      }
      expect(message).not.toBe('accepted');
      expect(message.trim().split('\n')).toHaveLength(1);
    }),
  );
});
