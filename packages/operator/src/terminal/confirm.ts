import { Fault } from '@brand-data/runtime';
import { UsageError } from '../connection/usage-error.ts';
import type { Context } from './context.ts';

export const YES_OPTION = ['--yes', 'do not ask whether to go on'] as const;

/**
 * Returns if the operator has agreed to something that no command can undo: by --yes, or by an answer at the terminal.
 *
 * @param what as in "Revoking key-1"
 */
export async function confirm(
  { ask }: Pick<Context, 'ask'>,
  what: string,
  { yes = false }: { yes?: boolean },
): Promise<void> {
  if (yes) return;
  if (ask === undefined) throw new UsageError(`${what} cannot be undone: add --yes`);
  if (!/^y(es)?$/i.test((await ask(`${what} cannot be undone. Go on? [y/N] `)).trim()))
    throw new Fault('failed_precondition', 'nothing was changed, because you did not answer yes');
}
