import { createToken } from '@brand-data/contracts';
import { type CallOutcome, nameOf } from './api-call.ts';
import type { Harness } from './stack.ts';
import { UNLIMITED } from './traffic.ts';

/** The calls for something new, so that no cache can answer them, and how they end if nothing is wrong. */
export const NEW_CALLS = {
  'a new token': '401',
  'an account without a grant': '200',
  'a record that is not cached': '404',
};
export type NewCall = keyof typeof NEW_CALLS;

/** Prepares a call. It can be made only once, because afterwards a cache answers it. */
export async function prepareNew(
  { stack, operator, client }: Harness,
  call: NewCall,
  token: string,
): Promise<() => Promise<CallOutcome>> {
  const url = stack.gateways[0]?.url;
  const brand = (identifier: string, of: string) => () =>
    client.get(`${url}/v1/brands/${encodeURIComponent(identifier)}?token=${of}`);
  if (call === 'a new token') return brand('ZPHX', createToken());
  if (call === 'a record that is not cached') return brand(`nobody knows ${createToken()}`, token);
  const account = await operator.newAccount(1_000);
  // This makes the gateway cache the token, without a request for a grant.
  await client.get(`${url}/v1/usage?token=${account.token}`);
  return brand('ZPHX', account.token);
}

/**
 * Prepares questions that can be asked again and again, each time by another call. Each resolves to whether the call ended well. All
 * calls with an account without a grant are of one account, because operators cannot create accounts during a fault.
 */
export async function prepareQuestions(harness: Harness, calls = Object.keys(NEW_CALLS) as NewCall[]) {
  const { token } = await harness.operator.newAccount(UNLIMITED);
  // Only the record is then new: the gateway knows the token, and has a grant.
  await (await prepareNew(harness, 'a record that is not cached', token))();
  const callOfAccount = await prepareNew(harness, 'an account without a grant', token);
  return calls.map((call) => ({
    call,
    ask: async () => {
      const make =
        call === 'an account without a grant' ? callOfAccount : await prepareNew(harness, call, token);
      return nameOf(await make()) === NEW_CALLS[call];
    },
  }));
}
