import { type CommandEntry, flagsWithValue, optionPlaces } from './command-table.ts';

/** Returns a script for zsh, with the descriptions of commands and options. */
export function zshCompletion(table: readonly CommandEntry[]): string {
  const places = optionPlaces(table);
  const withPaths = places.filter(({ values }) => values === 'paths').map(({ place }) => place);
  const withText = places.filter(({ values }) => values === 'text').map(({ place }) => place);
  const withWords = places.flatMap(({ place, values }) =>
    typeof values === 'string'
      ? []
      : [`    (${quoted(place)}) compadd -- ${values.map(quoted).join(' ')}; return ;;`],
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
          (${anyOf(table.map(({ at }) => at).filter((at) => at !== ''))}) at="$at \${words[i]}" ;;
        esac
        ;;
    esac
  done
  case "$at \${words[CURRENT - 1]}" in
    (${anyOf(withPaths)}) _files; return ;;
    (${anyOf(withText)}) return ;;
${withWords.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    case "$at" in
${table.map(({ at, options }) => `      (${quoted(at)}) entries=(${options.map(({ flag, description }) => item(flag, description)).join(' ')}) ;;`).join('\n')}
    esac
  else
    case "$at" in
${table.map((entry) => `      (${quoted(entry.at)}) ${afterCommand(entry)} ;;`).join('\n')}
    esac
  fi
  _describe 'bds' entries
}
compdef _bds bds
`;
}

function afterCommand({ commands, values }: CommandEntry): string {
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

function anyOf(patterns: readonly string[]): string {
  return patterns.map(quoted).join('|');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
