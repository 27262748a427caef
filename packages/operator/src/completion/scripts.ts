import { type CommandEntry, type Completions, flagsWithValue, optionPlaces } from './command-table.ts';

/** In what the scripts of bash and zsh differ. */
interface Dialect {
  /** The array of the command line's words. */
  words: string;
  /** The index of the word to complete, and of the first word after `bds`. */
  current: string;
  first: number;
  /** Proposes files and folders. */
  paths: string;
  /** Proposes words, which may have descriptions. */
  propose(words: readonly { word: string; description?: string }[]): string;
  /** What comes before the function, and what ends it. */
  head: string;
  tail: string;
}

const BASH: Dialect = {
  words: 'COMP_WORDS',
  current: 'COMP_CWORD',
  first: 1,
  paths: '_bds_paths "$current"',
  propose: (words) =>
    `mapfile -t COMPREPLY < <(compgen -W ${quoted(words.map(({ word }) => word).join(' '))} -- "$current")`,
  head: `# Completion of bds in bash: eval "$(bds completion bash)"
_bds_paths() {
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}
`,
  tail: 'complete -F _bds bds\n',
};

const ZSH: Dialect = {
  words: 'words',
  current: 'CURRENT',
  first: 2,
  paths: '_files',
  // The text before the first colon is the word, and the text after it is the description.
  propose: (words) =>
    `entries=(${words.map(({ word, description }) => quoted(description === undefined ? word : `${word}:${description}`)).join(' ')}); _describe bds entries`,
  head: '#compdef bds\n# Completion of bds in zsh, after compinit: eval "$(bds completion zsh)"\n',
  tail: 'compdef _bds bds\n',
};

/** Returns a script for bash 4 or newer. Nothing of it runs bds. */
export function bashCompletion(table: readonly CommandEntry[]): string {
  return script(table, BASH);
}

/** Returns a script for zsh, with the descriptions of commands and options. */
export function zshCompletion(table: readonly CommandEntry[]): string {
  return script(table, ZSH);
}

function script(table: readonly CommandEntry[], shell: Dialect): string {
  const commands = table.flatMap(({ at }) => (at === '' ? [] : quoted(at)));
  const { paths, texts, words } = optionPlaces(table);
  const caseOf = (places: readonly string[], then: string) =>
    `    (${places.map(quoted).join('|')}) ${then} ;;`;
  const wordsOf = (values: readonly string[]) => shell.propose(values.map((word) => ({ word })));
  const after = ({ commands: below, values }: CommandEntry) => {
    if (below.length > 0)
      return shell.propose(below.map(({ name, description }) => ({ word: name, description })));
    if (typeof values !== 'string') return wordsOf(values);
    return values === 'paths' ? shell.paths : ':';
  };
  const flagsOf = ({ options }: CommandEntry) =>
    shell.propose(options.map(({ flag, description }) => ({ word: flag, description })));
  return `${shell.head}_bds() {
  local current="\${${shell.words}[${shell.current}]}" at='' i
  local -a entries
  for ((i = ${shell.first}; i < ${shell.current}; i++)); do
    case "\${${shell.words}[i]}" in
      (${flagsWithValue(table).join('|')}) ((i++)) ;;
      (-*) ;;
      (*)
        case "$at \${${shell.words}[i]}" in
          (${commands.join('|')}) at="$at \${${shell.words}[i]}" ;;
        esac
        ;;
    esac
  done
  case "$at \${${shell.words}[${shell.current} - 1]}" in
${caseOf(paths, `${shell.paths}; return`)}
${caseOf(texts, 'return')}
${words.map(([place, values]) => caseOf([place], `${wordsOf(values)}; return`)).join('\n')}
  esac
  if [[ "$current" == -* ]]; then
    case "$at" in
${table.map((entry) => caseOf([entry.at], flagsOf(entry))).join('\n')}
    esac
  else
    case "$at" in
${table.map((entry) => caseOf([entry.at], after(entry))).join('\n')}
    esac
  fi
}
${shell.tail}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

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
        if contains -- "$at $word" ${table.map(({ at }) => fishQuoted(at)).join(' ')}
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
  const when = `complete -c bds -n ${fishQuoted(`__bds_at ${fishQuoted(at)}`)}`;
  return [
    ...commands.map(({ name, description }) => `${when} -a ${name} -d ${fishQuoted(description)}`),
    ...options.map(({ flag, description, values: ofOption }) =>
      [when, '-l', flag.slice(2), ...valueFlags(ofOption), '-d', fishQuoted(description)].join(' '),
    ),
    ...(values === 'paths' ? [`${when} -F`] : []),
    ...(typeof values !== 'string' && values.length > 0
      ? [`${when} -a ${fishQuoted(values.join(' '))}`]
      : []),
  ];
}

function valueFlags(values: Completions | undefined): string[] {
  if (values === undefined) return [];
  if (values === 'paths') return ['-r', '-F'];
  return values === 'text' ? ['-x'] : ['-x', '-a', fishQuoted(values.join(' '))];
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
