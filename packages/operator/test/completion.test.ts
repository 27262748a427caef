import { execFileSync, spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commandTable, flagsWithValue } from '../src/completion/command-table.ts';
import { bashCompletion, fishCompletion, zshCompletion } from '../src/completion/scripts.ts';
import { createProgram } from '../src/program.ts';

const table = commandTable(createProgram({} as never));

function has(shell: string): boolean {
  const found = spawnSync(shell, ['--version']).status === 0;
  if (!found)
    console.warn(`SKIPPED: the completion of ${shell} is not tested, because ${shell} is not installed`);
  return found;
}

/** Returns bash's proposals for the last of the words. */
function bashProposes(words: readonly string[]): string[] {
  const given = words.map((word) => `'${word}'`).join(' ');
  const script = `${bashCompletion(table)}
COMP_WORDS=(bds ${given}); COMP_CWORD=${words.length}; COMPREPLY=()
_bds
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' }).split('\n').filter(Boolean);
}

test('no option takes a value in one command and none in another, so that every word is read alike', () => {
  const withValue = new Set(flagsWithValue(table));
  for (const { at, options } of table)
    for (const { flag, values } of options)
      expect({ at, flag, takesValue: values !== undefined }).toEqual({
        at,
        flag,
        takesValue: withValue.has(flag),
      });
});

describe.runIf(has('bash'))('bash', () => {
  test('proposes the commands and the options that can follow, after any options before them', () => {
    const withCommands = table.filter(({ commands }) => commands.length > 0);
    fc.assert(
      fc.property(
        fc.constantFrom(...withCommands),
        fc.subarray([['--json'], ['--as', 'ana'], ['--catalog', 'account']]),
        ({ at, commands, options }, before) => {
          const words = [...before.flat(), ...at.split(' ').filter(Boolean)];
          expect(bashProposes([...words, '']).sort()).toEqual(commands.map(({ name }) => name).sort());
          expect(bashProposes([...words, '--']).sort()).toEqual(options.map(({ flag }) => flag).sort());
        },
      ),
      { numRuns: 15 },
    );
  });

  test('proposes the values of an option, files where a path is needed, and nothing for other values', () => {
    expect(bashProposes(['catalogue', 'list', '--type', 's'])).toEqual(['stock', 'superinvestor']);
    expect(bashProposes(['completion', ''])).toEqual(['bash', 'zsh', 'fish']);
    expect(bashProposes(['import', 'records', '/etc/host'])).toContain('/etc/hosts');
    expect(bashProposes(['--certificates', '/etc/host'])).toContain('/etc/hosts');
    expect(bashProposes(['account', 'show', ''])).toEqual([]);
    expect(bashProposes(['usage', '--month', ''])).toEqual([]);
  });

  test('does not take an argument for a command', () => {
    expect(bashProposes(['show', 'account', '--'])).toContain('--json');
    expect(bashProposes(['show', 'account', ''])).toEqual([]);
  });
});

describe.runIf(has('zsh'))('zsh', () => {
  test('accepts the script', () => {
    execFileSync('zsh', ['-n', '-c', zshCompletion(table)]);
  });
});

describe.runIf(has('fish'))('fish', () => {
  test.each(table.filter(({ commands }) => commands.length > 0))(
    'proposes the commands that can follow "bds$at"',
    ({ at, commands }) => {
      const proposed = execFileSync('fish', ['-c', `${fishCompletion(table)}\ncomplete -C 'bds${at} '`], {
        encoding: 'utf8',
      });
      const words = proposed.split('\n').map((line) => line.split('\t', 1)[0]);
      expect(words.filter(Boolean).sort()).toEqual(commands.map(({ name }) => name).sort());
    },
  );
});
