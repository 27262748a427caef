import { type CommandEntry, type Completions, flagsWithValue } from './command-table.ts';

/** Returns a script for fish, with the descriptions of commands and options. */
export function fishCompletion(table: readonly CommandEntry[]): string {
  return `# Completion of bds in fish: bds completion fish | source
function __bds_at
  set -l at ''
  set -l is_value 0
  set -l words (commandline -opc)
  for word in $words[2..]
    if test $is_value = 1
      set is_value 0
      continue
    end
    switch $word
      case ${flagsWithValue(table).join(' ')}
        set is_value 1
      case '-*'
      case '*'
        if contains -- "$at $word" ${table.map(({ at }) => quoted(at)).join(' ')}
          set at "$at $word"
        end
    end
  end
  test "$at" = "$argv[1]"
end
complete -c bds -f
${table.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ at, commands, options, values }: CommandEntry): string[] {
  const when = `complete -c bds -n ${quoted(`__bds_at ${quoted(at)}`)}`;
  return [
    ...commands.map(({ name, description }) => `${when} -a ${name} -d ${quoted(description)}`),
    ...options.map(({ flag, description, values: ofOption }) =>
      [when, '-l', flag.slice(2), ...valueFlags(ofOption), '-d', quoted(description)].join(' '),
    ),
    ...(values === 'paths' ? [`${when} -F`] : []),
    ...(typeof values !== 'string' && values.length > 0 ? [`${when} -a ${quoted(values.join(' '))}`] : []),
  ];
}

function valueFlags(values: Completions | undefined): string[] {
  if (values === undefined) return [];
  if (values === 'paths') return ['-r', '-F'];
  return values === 'text' ? ['-x'] : ['-x', '-a', quoted(values.join(' '))];
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
