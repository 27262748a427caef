import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { BrandType } from '@brand-data/contracts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestOperator } from '../e2e/operator.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';

const PAGE = await readFile(join(import.meta.dirname, '../../packages/site/docs/generators.md'), 'utf8');

/** Generators and compilers load much, so only `npm run generators` runs them. */
const isAsked = process.env.GENERATORS === 'on';
if (!isAsked) process.stderr.write('\nSKIPPED: generators of clients: npm run generators\n');

const SECTIONS = new Map(
  PAGE.split(/^## /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf('\n')), text]),
);
const blocksIn = (section: string) =>
  [...(SECTIONS.get(section) ?? '').matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(
    ([, language = '', text = '']) => ({
      language,
      text: text.replaceAll('\\\n', ''),
    }),
  );

const ROWS = [...PAGE.matchAll(/^\| (\S+) [\d.]+ +\| (\w+) +\| (\w*) +\| (\w*) +\| (\w*) +\|$/gm)].map(
  ([, generator, language, ...cells]) => ({ section: `${generator} for ${language}`, cells }),
);

/** What the examples of a section run, which a machine may lack. */
const NEEDED = /^(?:npm|go|java|mvn|pip)(?= )/gm;
const PATH = [process.env.PATH, '/usr/local/go/bin'].join(delimiter);

test('every generator in the table has an example, and every example is in the table', () => {
  const examples = [...SECTIONS.keys()].filter((title) => title !== 'Getting openapi-generator');
  expect(ROWS.map(({ section }) => section)).toEqual(examples);
  expect(ROWS.length).toBeGreaterThan(5);
});

describe.skipIf(!isAsked)('the table of generators says what becomes of the example', () => {
  let stack: TestStack;
  let api: string;
  let token: string;
  let jar: string;

  beforeAll(async () => {
    stack = await startTestStack({ gateways: 1 });
    api = stack.gateways[0]?.url ?? '';
    const operator = new TestOperator(stack);
    const listings = [{ ticker: 'AAPL', mic: 'XNAS', primary: true }];
    const apple = { id: 'apple', type: BrandType.STOCK, name: 'Apple', category: 'technology', rank: 900 };
    await operator.putBrands([{ ...apple, listings }]);
    ({ token } = await operator.newAccount(100));
    operator.close();
    jar = await openapiGenerator();
  });
  afterAll(() => stack?.stop());

  async function openapiGenerator(): Promise<string> {
    const [{ text: fetchIt = '' } = {}] = blocksIn('Getting openapi-generator');
    const [, path = ''] = /maven2\/(\S+\.jar)/.exec(fetchIt) ?? [];
    const had = join(homedir(), '.m2/repository', path);
    if (existsSync(had)) return had;
    const folder = await temporaryFolder();
    await promisify(execFile)('sh', ['-c', fetchIt], { cwd: folder, timeout: 300_000 }).catch(
      () => undefined,
    );
    return join(folder, 'openapi-generator.jar');
  }

  test.for(ROWS)('$section', { timeout: 1_200_000 }, async ({ section, cells }, { skip }) => {
    const blocks = blocksIn(section);
    const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
    const needed = [...new Set(commands.join('').match(NEEDED) ?? [])];
    const lacking = needed.filter((name) => spawnSync('which', [name], { env: { PATH } }).status !== 0);
    if (needed.includes('java') && !existsSync(jar)) lacking.push('the jar of openapi-generator');
    if (lacking.length > 0) {
      process.stderr.write(`\nSKIPPED: ${section}: without ${lacking.join(', ')}\n`);
      skip();
    }
    const folder = await temporaryFolder();
    if (needed.includes('java')) await copyFile(jar, join(folder, 'openapi-generator.jar'));
    if (needed.includes('mvn')) await copyFile(join(import.meta.dirname, 'pom.xml'), join(folder, 'pom.xml'));
    if (needed.includes('npm')) await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    if (needed.includes('pip')) spawnSync('python3', ['-m', 'venv', 'venv'], { cwd: folder });
    const ownPath = [join(folder, 'venv/bin'), join(folder, 'bin'), PATH].join(delimiter);
    const env = { ...process.env, PATH: ownPath, GOBIN: join(folder, 'bin'), TOKEN: token };
    const run = async (command: string): Promise<string> =>
      (
        await promisify(execFile)('sh', ['-ec', command.replaceAll('https://api.example.com', api)], {
          cwd: folder,
          env,
        })
      ).stdout;
    for (const { text } of blocks) {
      const [, file] = /^(?:\/\/|#) (\S+\.\w+)\n/.exec(text) ?? [];
      if (file === undefined) continue;
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text.replaceAll('https://api.example.com', api));
    }
    const [generate = '', use = ''] = commands;
    const [, compile = '', call = ''] = /^(.*)\n(.*)\n$/s.exec(use) ?? [];
    const got: string[] = [];
    for (const command of [generate, compile, call]) {
      const output = command === '' ? undefined : await run(command).catch((error: Error) => error);
      if (output instanceof Error) process.stderr.write(`${section}: ${output.message}\n`);
      const isRight = typeof output === 'string' && (command !== call || /^Apple$/m.test(output));
      got.push(command === '' ? '' : isRight ? 'yes' : 'no');
    }
    expect(got).toEqual(cells);
  });
});
