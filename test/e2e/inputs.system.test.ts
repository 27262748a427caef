import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Brand } from '@brand-data/contracts';
import { readWebHost } from '@brand-data/identifiers';
import { loadIcons, readSimpleIcons } from '@brand-data/importers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, callerOf, untilAnswered } from './caller.ts';
import { forAll } from './for-all.ts';
import { TestOperator } from './operator.ts';
import { readSample } from './sample.ts';
import { type SampleStack, startSampleStack } from './sample-stack.ts';

/** One line of inputs/typed.txt. */
interface TypedInput {
  input: string;
  /** The id of the record that the input means. Undefined: it means none. */
  id: string | undefined;
  /** Whether a 404 is right too, because neither the sample nor Simple Icons need have the record. */
  mayMiss: boolean;
}

interface Answer {
  input: string;
  /** The id of the record that answered. Undefined: the answer was a 404. */
  id: string | undefined;
}

const records = await readSample();
const icons = await loadIcons();
const iconBrands = await readIconBrands();
const typed = readTyped(await readFile(join(import.meta.dirname, 'inputs', 'typed.txt'), 'utf8'));
const madeUp = readMadeUp(await readFile(join(import.meta.dirname, 'inputs', 'made-up.txt'), 'utf8'));

const idOf = recordNamer();

let stack: SampleStack;
let operator: TestOperator;
let caller: Caller;
let token: string;
let typedAnswers: Answer[];

beforeAll(async () => {
  stack = await startSampleStack();
  operator = new TestOperator(stack);
  const [gateway] = stack.gateways;
  if (gateway === undefined) throw new Error('a gateway is needed');
  caller = callerOf(gateway);
  ({ token } = await operator.newAccount(1_000_000));
  typedAnswers = await forAll(
    typed.map(({ input }) => input),
    ask,
  );
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
});

test('each list has at least 300 inputs and none of them twice, and each record that an input means exists', () => {
  for (const inputs of [typed.map(({ input }) => input), madeUp]) {
    expect(inputs.length).toBeGreaterThanOrEqual(300);
    expect(inputs.filter((input, index) => inputs.indexOf(input) !== index)).toEqual([]);
  }
  const known = new Set([...records.map(({ id }) => id), ...icons.keys()]);
  expect(typed.filter(({ id, mayMiss }) => id !== undefined && !mayMiss && !known.has(id))).toEqual([]);
});

test('at least 99 % of the inputs that people type find the record that they mean', () => {
  const sought = typed.filter(({ id, mayMiss }) => id !== undefined && !mayMiss);
  const missed = sought.flatMap(({ input, id }) => lineIf(answerTo(input) !== id, input, id));
  expect(missed.length / sought.length, missed.join('\n')).toBeLessThanOrEqual(0.01);
});

test('at most three inputs that people type find another company', () => {
  const wrong = typed.flatMap(({ input, id }) => {
    const answered = answerTo(input);
    return lineIf(answered !== undefined && answered !== id, input, id);
  });
  expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(3);
});

test('at most 1 % of the inputs that are made up or misspelt find a company', async () => {
  const answers = await forAll(madeUp, ask);
  const found = answers.flatMap(({ input, id }) => (id === undefined ? [] : [`"${input}" finds ${id}`]));
  expect(found.length / madeUp.length, found.join('\n')).toBeLessThanOrEqual(0.01);
});

test('a name and the domain of the same letters, such as "Google" and google.com, find one record', async () => {
  // A name that is also a ticker, such as "Dash", means the listed company.
  const tickers = new Set(records.flatMap(({ listings = [] }) => listings.map(({ ticker }) => ticker)));
  const sites = [...records, ...iconBrands]
    .filter(({ name }) => !tickers.has(name.toUpperCase()))
    .flatMap(({ name, domains = [], links }) =>
      [...domains, ...(links?.websites ?? [])].flatMap((site) => {
        const domain = readWebHost(site)?.domain ?? '';
        return lettersOf(domain.split('.', 1)[0] ?? '') === lettersOf(name) ? [{ name, domain }] : [];
      }),
    );
  expect(sites.length).toBeGreaterThan(1_000);
  const answers = await forAll(sites, async ({ name, domain }) => ({
    byName: (await ask(name)).id,
    byDomain: (await ask(domain)).id,
    name,
    domain,
  }));
  const split = answers.filter(({ byName, byDomain }) => byName !== byDomain);
  expect(
    split.map(({ name, byName, domain, byDomain }) => `${name}: ${byName}, ${domain}: ${byDomain}`),
  ).toEqual([]);
});

function lettersOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

function answerTo(input: string): string | undefined {
  return typedAnswers.find((answer) => answer.input === input)?.id;
}

function lineIf(failed: boolean, input: string, id: string | undefined): string[] {
  return failed ? [`"${input}" finds ${answerTo(input) ?? 'nothing'} instead of ${id ?? 'nothing'}`] : [];
}

async function ask(input: string): Promise<Answer> {
  const response = await untilAnswered(() => caller.brand(input, token));
  const body = (await response.json()) as Record<string, unknown>;
  if (response.status === 200) return { input, id: idOf(body) };
  // An input that no identifier can be, such as one of control characters, is a 400.
  if (response.status === 404 || response.status === 400) return { input, id: undefined };
  throw new Error(`"${input}" is answered with ${response.status} ${body.code}`);
}

/** Returns a function that finds the id of an answered record: by the description in the sample, else by the icon's title. */
function recordNamer(): (answer: Record<string, unknown>) => string {
  const ofSample = new Map(records.map(({ id, description }) => [description, id]));
  const ofIcon = new Map([...icons.values()].map(({ title, slug }) => [title, slug]));
  return ({ name, description }) =>
    ofSample.get(String(description)) ?? ofIcon.get(String(name)) ?? `a record named "${name}"`;
}

async function readIconBrands(): Promise<Brand[]> {
  const brands: Brand[] = [];
  for await (const read of readSimpleIcons()) if ('item' in read) brands.push(read.item);
  return brands;
}

function readTyped(text: string): TypedInput[] {
  return linesOf(text).map((line) => {
    const [, input = '', optional, id = ''] = /^(.*) = (\?)?(\S+)$/.exec(line) ?? [];
    if (input === '') throw new Error(`inputs/typed.txt: "${line}" is not "input = id"`);
    return { input, id: id === '-' ? undefined : id, mayMiss: optional !== undefined };
  });
}

function readMadeUp(text: string): string[] {
  return linesOf(text).flatMap((line) => line.split(' | '));
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('# '));
}
