import { join } from 'node:path';
import type { TestStack } from '@brand-data/test/stack/index.ts';
import { main } from '../src/index.ts';

export interface RanBds {
  code: number;
  out: string;
  errors: string;
}

/** Runs one command line against the stack, in the folder. `ask` answers questions at the terminal; absent: there is no terminal. */
export async function runBds(
  stack: TestStack,
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  ask?: (question: string, isSecret?: boolean) => Promise<string>,
): Promise<RanBds> {
  const { accounts, catalog, metering, images, operatorToken } = stack.operator;
  const ran = { code: 0, out: '', errors: '' };
  const take = (stream: 'out' | 'errors') => ({ write: (text: string) => (ran[stream] += text) });
  ran.code = await main(args, {
    env: {
      BDS_ACCOUNTS: accounts,
      BDS_CATALOG: catalog,
      BDS_METERING: metering,
      BDS_IMAGES: images,
      BDS_OPERATOR_TOKEN: operatorToken,
      BDS_CERTIFICATES: join(stack.certificates, 'bds'),
      ...env,
    },
    cwd: folder,
    ...(ask && { ask }),
    stdout: take('out'),
    stderr: take('errors'),
  });
  return ran;
}
