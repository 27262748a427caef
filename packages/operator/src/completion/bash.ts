import { type CommandEntry, flagsWithValue, optionPlaces } from './command-table.ts';

/** Returns a script for bash 4 or newer. Nothing of it runs bds. */
export function bashCompletion(table: readonly CommandEntry[]): string {
  const places = optionPlaces(table);
  const withPaths = places.filter(({ values }) => values === 'paths').map(({ place }) => place);
  const withText = places.filter(({ values }) => values === 'text').map(({ place }) => place);
  return `# Completion of bds in bash: eval "$(bds completion bash)"
_bds() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} at='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      ${flagsWithValue(table).join(' | ')}) ((i++)) ;;
      -*) ;;
      *)
        case "$at \${COMP_WORDS[i]}" in
          ${anyOf(table.map(({ at }) => at).filter((at) => at !== ''))}) at="$at \${COMP_WORDS[i]}" ;;
        esac
        ;;
    esac
  done
  case "$at $before" in
    ${anyOf(withPaths)})
      _bds_paths "$current"
      return
      ;;
    ${anyOf(withText)})
      COMPREPLY=()
      return
      ;;
${places.flatMap(({ place, values }) => (typeof values === 'string' ? [] : [caseOf(`${place}`, `words=${quoted(values.join(' '))}`)])).join('\n')}
    *)
      if [[ $current == -* ]]; then
        case "$at" in
${table.map(({ at, options }) => caseOf(at, `words=${quoted(options.map(({ flag }) => flag).join(' '))}`)).join('\n')}
        esac
      else
        case "$at" in
${table.map((entry) => caseOf(entry.at, afterCommand(entry))).join('\n')}
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
function afterCommand({ commands, values }: CommandEntry): string {
  if (commands.length > 0) return `words=${quoted(commands.map(({ name }) => name).join(' '))}`;
  if (values === 'paths') return '_bds_paths "$current"; return';
  return `words=${quoted(values === 'text' ? '' : values.join(' '))}`;
}

function caseOf(pattern: string, then: string): string {
  return `    ${quoted(pattern)}) ${then} ;;`;
}

function anyOf(patterns: readonly string[]): string {
  return patterns.map(quoted).join(' | ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
