import { Argument, Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { commandTable } from '../../completion/command-table.ts';
import { bashCompletion, fishCompletion, zshCompletion } from '../../completion/scripts.ts';
import type { Context } from '../../terminal/context.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
const SCRIPT = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** @param program the program whose commands and options the scripts complete, this command included */
export function completionCommand({ output }: Context, program: CommandUnknownOpts) {
  return new Command('completion')
    .description('Print a script by which a shell completes the commands and options of bds')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      '\nbash: eval "$(bds completion bash)" in ~/.bashrc. zsh: eval "$(bds completion zsh)" in ~/.zshrc, after compinit.' +
        '\nfish: bds completion fish > ~/.config/fish/completions/bds.fish',
    )
    .action((shell) => output.text(SCRIPT[shell](commandTable(program)).trimEnd()));
}
