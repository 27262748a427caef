import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import examples from './examples.json' with { type: 'json' };

/**
 * The example that each command's help shows, by the command's words. A test runs all examples in this order, so each may rely on
 * what the earlier ones have created.
 */
export const EXAMPLES: ReadonlyMap<string, string> = new Map(Object.entries(examples));

const COMMON =
  '\nbds --help lists the options that every command has, such as --json and the addresses of the services.';

/** Adds their examples to the help of the command and of those below it. */
export function addExamples(command: CommandUnknownOpts, path = ''): void {
  const example = EXAMPLES.get(path);
  if (example !== undefined) command.addHelpText('after', `\nExample:\n  bds ${example}\n${COMMON}`);
  for (const below of command.commands) addExamples(below, `${path} ${below.name()}`.trim());
}
