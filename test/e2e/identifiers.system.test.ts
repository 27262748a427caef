import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Caller, callerOf } from './caller.ts';
import { TestOperator } from './operator.ts';
import { type SampleStack, startSampleStack } from './sample-stack.ts';

let stack: SampleStack;
let operator: TestOperator;
let caller: Caller;
let token: string;

beforeAll(async () => {
  stack = await startSampleStack();
  operator = new TestOperator(stack);
  const [gateway] = stack.gateways;
  if (gateway === undefined) throw new Error('a gateway is needed');
  caller = callerOf(gateway);
  ({ token } = await operator.newAccount(1_000));
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
});

describe('the identifiers that people type find the company, and the answer says how they matched', () => {
  test.each([
    ['mcdonalds', "McDonald's", 'kind=name, value="McDonald\'s", strength=exact'],
    ['McDonald’s Corp.', "McDonald's", 'kind=name, value="McDonald\'s", strength=legal_form'],
    ['MCD', "McDonald's", 'kind=ticker, value="MCD", strength=exact'],
    ['MDO.DE', "McDonald's", 'kind=ticker, value="XETR:MDO", strength=exact'],
    ['www.mcdonalds.com/us/en', "McDonald's", 'kind=domain, value="mcdonalds.com", strength=exact'],
    ['US5801351017', "McDonald's", 'kind=isin, value="US5801351017", strength=exact'],
    ['580135101', "McDonald's", 'kind=cusip, value="580135101", strength=exact'],
    ['brk b', 'Berkshire Hathaway', 'kind=ticker, value="BRK-B", strength=exact'],
    ['BRK.B', 'Berkshire Hathaway', 'kind=ticker, value="BRK-B", strength=exact'],
    ['BRK/B', 'Berkshire Hathaway', 'kind=ticker, value="BRK-B", strength=exact'],
    ['BRK-B', 'Berkshire Hathaway', 'kind=ticker, value="BRK-B", strength=exact'],
    ['BRKB', 'Berkshire Hathaway', 'kind=ticker, value="BRK-B", strength=spacing'],
    ["Mc Donald's", "McDonald's", 'kind=name, value="McDonald\'s", strength=spacing'],
    ['AAPL.O', 'Apple', 'kind=ticker, value="XNAS:AAPL", strength=exact'],
    ['AAPL-US', 'Apple', 'kind=ticker, value="XNAS:AAPL", strength=exact'],
    ['Berkshire Hathaway Inc. Class B', 'Berkshire Hathaway', 'strength=legal_form'],
    ['Nestlé', 'Nestlé', 'kind=name, value=%"Nestl%c3%a9", strength=exact'],
    ['nestle', 'Nestlé', 'kind=name, value=%"Nestl%c3%a9", strength=exact'],
    ['トヨタ', 'Toyota', 'kind=name'],
    ['7203.T', 'Toyota', 'kind=ticker, value="XTKS:7203", strength=exact'],
    ['7203:JP', 'Toyota', 'kind=ticker, value="XTKS:7203", strength=exact'],
    ['XETR:APC', 'Apple', 'kind=ticker, value="XETR:APC", strength=exact'],
    ['Muenchener Rueck', 'Munich Re', 'kind=name, value=%"M%c3%bcnchener R%c3%bcck", strength=exact'],
  ])('%s is %s', async (identifier, name, match) => {
    const response = await caller.brand(identifier, token);
    expect(await response.json()).toMatchObject({ name });
    expect(response.headers.get('brand-match')).toContain(match);
  });
});

test.each(['McDonlads', 'US5801351018', 'MDO', 'MCD.L', 'Berkshires', 'Nestle Apple'])(
  '%s is not found, although the name or code of a company is similar',
  async (identifier) => {
    expect((await caller.brand(identifier, token)).status).toBe(404);
  },
);
