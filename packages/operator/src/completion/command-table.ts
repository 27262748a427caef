import type { Argument, CommandUnknownOpts, Option } from '@commander-js/extra-typings';

/** The commands, options and arguments that can follow a command's words on the command line. */
export interface CommandEntry {
  /** The words of the command, each with a space before it: " account create". Empty for `bds` itself. */
  at: string;
  commands: { name: string; description: string }[];
  options: OptionEntry[];
  /** The possible values of its arguments. */
  values: Completions;
}

interface OptionEntry {
  /** "--type". */
  flag: string;
  description: string;
  /** Undefined if the option takes no value. */
  values: Completions | undefined;
}

/** The possible values: one of these words, the path of a file or folder, or a text that cannot be completed. */
export type Completions = readonly string[] | 'paths' | 'text';

/** The names of values that are paths, as in `<file>` and `[path...]`. */
const PATH = /[<[](?:file|folder|path)\b/;
const HELP: OptionEntry = { flag: '--help', description: 'show the help', values: undefined };

/** Returns all commands below the program, and the program itself first. Options of the program may stand after every command. */
export function commandTable(program: CommandUnknownOpts): CommandEntry[] {
  const global = program.options.map(optionEntry);
  const entriesBelow = (command: CommandUnknownOpts, at: string): CommandEntry[] => [
    {
      at,
      commands: command.commands.map((each) => ({ name: each.name(), description: each.description() })),
      options: [...(at === '' ? [] : command.options.map(optionEntry)), ...global, HELP],
      values: valuesOf(command.registeredArguments[0]),
    },
    ...command.commands.flatMap((each) => entriesBelow(each, `${at} ${each.name()}`)),
  ];
  return entriesBelow(program, '');
}

function optionEntry(option: Option): OptionEntry {
  const { flags, description, argChoices, required, optional } = option;
  const takesValue = required || optional;
  const values = argChoices ?? (PATH.test(flags) ? 'paths' : 'text');
  return { flag: option.long ?? flags, description, values: takesValue ? values : undefined };
}

function valuesOf(argument: Argument | undefined): Completions {
  if (argument === undefined) return [];
  return argument.argChoices ?? (PATH.test(`<${argument.name()}`) ? 'paths' : 'text');
}

/**
 * Returns the flags of all options that take a value. No flag takes a value in one command and none in another: a test checks
 * this.
 */
export function flagsWithValue(table: readonly CommandEntry[]): string[] {
  const flags = table.flatMap(({ options }) => options.flatMap(({ flag, values }) => (values ? [flag] : [])));
  return [...new Set(flags)].sort();
}

/** Returns the options after the words of a command, such as " catalogue list --type", by what their values can be. */
export function optionPlaces(table: readonly CommandEntry[]) {
  const places = table.flatMap(({ at, options }) =>
    options.map(({ flag, values }) => [`${at} ${flag}`, values] as const),
  );
  const placesWith = (wanted: Completions) =>
    places.flatMap(([place, values]) => (values === wanted ? [place] : []));
  const words = places.flatMap(([place, values]) =>
    values === undefined || typeof values === 'string' ? [] : [[place, values] as const],
  );
  return { paths: placesWith('paths'), texts: placesWith('text'), words };
}
