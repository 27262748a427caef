import { type CommandEntry, type Completions, flagsWithValue, optionPlaces } from './command-table.ts';

/** Returns a script for bash 4 or newer. Nothing of it runs bds. */
export function bashCompletion(table: readonly CommandEntry[]): string {
  const { paths, texts, words } = optionPlaces(table);
  const withWords = words.map(([place, values]) => caseOf(place, `words=${quoted(values.join(' '))}`));
  return `# Completion of bds in bash: eval "$(bds completion bash)"
_bds() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} at='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      ${flagsWithValue(table).join(' | ')}) ((i++)) ;;
      -*) ;;
      *)
        case "$at \${COMP_WORDS[i]}" in
          ${anyOf(commandsOf(table), ' | ')}) at="$at \${COMP_WORDS[i]}" ;;
        esac
        ;;
    esac
  done
  case "$at $before" in
    ${anyOf(paths, ' | ')})
      _bds_paths "$current"
      return
      ;;
    ${anyOf(texts, ' | ')})
      COMPREPLY=()
      return
      ;;
${withWords.join('\n')}
    *)
      if [[ $current == -* ]]; then
        case "$at" in
${table.map(({ at, options }) => caseOf(at, `words=${quoted(options.map(({ flag }) => flag).join(' '))}`)).join('\n')}
        esac
      else
        case "$at" in
${table.map((entry) => caseOf(entry.at, bashAfter(entry))).join('\n')}
        esac
      fi
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
_bds_paths() {
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}
complete -F _bds bds
`;
}

/** Returns the commands that can follow, else the arguments. */
function bashAfter({ commands, values }: CommandEntry): string {
  if (commands.length > 0) return `words=${quoted(commands.map(({ name }) => name).join(' '))}`;
  if (values === 'paths') return '_bds_paths "$current"; return';
  return `words=${quoted(values === 'text' ? '' : values.join(' '))}`;
}

function caseOf(pattern: string, then: string): string {
  return `    ${quoted(pattern)}) ${then} ;;`;
}

/** Returns a script for zsh, with the descriptions of commands and options. */
export function zshCompletion(table: readonly CommandEntry[]): string {
  const { paths, texts, words } = optionPlaces(table);
  const withWords = words.map(
    ([place, values]) => `    (${quoted(place)}) compadd -- ${values.map(quoted).join(' ')}; return ;;`,
  );
  return `#compdef bds
# Completion of bds in zsh, after compinit: eval "$(bds completion zsh)"
_bds() {
  local at='' i
  local -a entries
  for ((i = 2; i < CURRENT; i++)); do
    case "\${words[i]}" in
      (${flagsWithValue(table).join('|')}) ((i++)) ;;
      (-*) ;;
      (*)
        case "$at \${words[i]}" in
          (${anyOf(commandsOf(table), '|')}) at="$at \${words[i]}" ;;
        esac
        ;;
    esac
  done
  case "$at \${words[CURRENT - 1]}" in
    (${anyOf(paths, '|')}) _files; return ;;
    (${anyOf(texts, '|')}) return ;;
${withWords.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    case "$at" in
${table.map(({ at, options }) => `      (${quoted(at)}) entries=(${options.map(({ flag, description }) => item(flag, description)).join(' ')}) ;;`).join('\n')}
    esac
  else
    case "$at" in
${table.map((entry) => `      (${quoted(entry.at)}) ${zshAfter(entry)} ;;`).join('\n')}
    esac
  fi
  _describe 'bds' entries
}
compdef _bds bds
`;
}

function zshAfter({ commands, values }: CommandEntry): string {
  if (commands.length > 0)
    return `entries=(${commands.map(({ name, description }) => item(name, description)).join(' ')})`;
  if (values === 'paths') return '_files; return';
  if (values === 'text' || values.length === 0) return 'return';
  return `entries=(${values.map(quoted).join(' ')})`;
}

/** The text before the first colon is the word, and the text after it is the description. */
function item(word: string, description: string): string {
  return quoted(`${word}:${description}`);
}

function commandsOf(table: readonly CommandEntry[]): string[] {
  return table.map(({ at }) => at).filter((at) => at !== '');
}

function anyOf(patterns: readonly string[], separator: string): string {
  return patterns.map(quoted).join(separator);
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
