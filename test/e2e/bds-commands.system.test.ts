import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { USAGE_DEAD_LETTER_SUBJECT } from '@brand-data/contracts';
import { EXAMPLES } from '@brand-data/operator/src/commands/examples.ts';
import { commandTable } from '@brand-data/operator/src/completion/command-table.ts';
import { createProgram } from '@brand-data/operator/src/program.ts';
import { runBds } from '@brand-data/operator/test/run-bds.ts';
import { BrandRecord } from '@brand-data/records';
import { acme } from '@brand-data/records/test/acme.ts';
import { VERSION } from '@brand-data/runtime';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { startWebhookReceiver, type WebhookReceiver } from '@brand-data/testing/webhook-receiver';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import badCommands from './bad-commands.json' with { type: 'json' };

let stack: TestStack;
let folder: string;
let webhook: WebhookReceiver;

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64"/></svg>';
const stockOfAcme = {
  ...acme,
  type: 'stock',
  listings: [{ ticker: 'ACME', mic: 'XNAS' }],
  links: { websites: ['https://www.acme.com/'] },
};
const acmeWorks = { ...acme, id: 'acme-works', name: 'Acme Works' };

beforeAll(async () => {
  folder = await temporaryFolder();
  const write = (name: string, text: string | Buffer) => writeFile(join(folder, name), text);
  await write('companies.ndjson', `${JSON.stringify(stockOfAcme)}\n${JSON.stringify(acmeWorks)}`);
  await write('acme.ndjson', JSON.stringify(stockOfAcme));
  await write('bad.ndjson', 'no JSON');
  await write(
    'companies.csv',
    'company,site\nGlobex Works,https://globex-works.example/\nAcme,https://www.acme.com/\n',
  );
  await write('closes.csv', 'symbol,price,currency\nACME,2.5,USD\n');
  await write(
    'sources.yaml',
    'sources: [{ name: list, kind: records, files: [{ from: companies.ndjson }], schedule: "0 6 * * *" }]',
  );
  await mkdir(join(folder, 'FinanceDatabase'));
  await write(
    'FinanceDatabase/LSE.csv',
    'symbol,name,mic,country,isin,shareclass_figi\nDOCX.L,Docs plc,XLON,United Kingdom,,\n',
  );
  await write(
    'company_tickers_exchange.json',
    '{"fields":["cik","name","ticker","exchange"],"data":[[901,"Docs Inc.","DCSX","Nasdaq"]]}',
  );
  await write('latest-all.json.gz', gzipSync('[\n]\n'));
  await write('acme.svg', SVG);
  await mkdir(join(folder, 'logos'));
  await write('wrong-token', 'not the token');
  await chmod(join(folder, 'wrong-token'), 0o600);
  webhook = await startWebhookReceiver();
  stack = await startTestStack({
    gateways: 1,
    environment: {
      NOTICE_WEBHOOK_URL: webhook.url,
      NOTICE_WEBHOOK_SECRETS: `whsec_${Buffer.alloc(32, 'x').toString('base64')}`,
    },
  });
});

afterAll(async () => {
  await stack?.stop();
  await webhook?.stop();
});

const bds = (line: string, env?: NodeJS.ProcessEnv) => runBds(stack, folder, wordsOf(line), env);

/** Returns the words of a command line as a shell reads them. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:"[^"]*"|[^\s"])+/g)].map(([word]) => word.replaceAll('"', ''));
}

async function json(line: string): Promise<Record<string, { id: string }>> {
  const { code, out, errors } = await bds(`${line} --json`);
  expect([code, errors]).toEqual([0, '']);
  return JSON.parse(out);
}

const program = createProgram({
  connect: () => {
    throw new Error('nothing is called');
  },
} as never);
const commands = commandTable(program).filter(({ commands }) => commands.length === 0);

/**
 * bds-accounts.system.test.ts gives a token to `key find`, and deletes a plan without accounts. Simple Icons and Iconify are thousands of pictures, which a test of the sample imports. Backup and restore need MongoDB
 * and stopped services: backup.system.test.ts. GLEIF's zips are made by packages/importers/test/gleif.test.ts,
 * and runs to show and undo by packages/operator/test/import-runs.test.ts. The page of usage is served until a signal: usage-page.system.test.ts.
 */
const TESTED_ELSEWHERE = [
  'import gleif',
  'import show',
  'import undo',
  'plan delete',
  'key find',
  'import simple-icons',
  'import iconify',
  'backup',
  'restore',
  'usage-page',
];

describe('the help', () => {
  test('of each command shows its example, and no example is of a command that does not exist', async () => {
    const paths = commands.map(({ at }) => at.trim());
    expect([...EXAMPLES.keys()].sort()).toEqual(paths.toSorted());
    for (const path of paths) {
      const { code, out } = await bds(`${path} --help`);
      expect([path, code, out]).toEqual([path, 0, expect.stringContaining(`bds ${EXAMPLES.get(path)}\n`)]);
    }
  });

  test('shows examples that work one after the other', async () => {
    let key = '';
    for (const [path, example] of EXAMPLES) {
      if (TESTED_ELSEWHERE.includes(path)) continue;
      const line = example.replace(/key-[0-9a-f]{12}/, key);
      const { code, out, errors } = await bds(line);
      expect([line, code, errors]).toEqual([line, 0, '']);
      key = path === 'key create' ? (/key-\w+/.exec(out)?.[0] ?? '') : key;
    }
  });
});

test('--version prints the version of the release', async () => {
  expect(await bds('--version')).toEqual({ code: 0, out: `${VERSION}\n`, errors: '' });
});

describe('a command that cannot be done', () => {
  /** Names of fields of messages that do not appear in records, and therefore mean nothing to operators. */
  let wireNames: RegExp;

  beforeAll(async () => {
    for (const line of [
      'plan set team --pool calls=100:brands --rate none --concurrency none --yes',
      'account create --id gone --name Gone --plan team',
      'account close gone --yes',
      'import records companies.ndjson --source mine',
    ])
      expect(await bds(line)).toMatchObject({ code: 0 });
    const inRecords = new Set(JSON.stringify(BrandRecord).match(/\w+/g));
    const protos = ['accounts', 'catalog', 'diagnosis', 'images', 'metering'].map((name) =>
      readFile(join(import.meta.dirname, `../../proto/brand_data/v1/${name}.proto`), 'utf8'),
    );
    const fields = (await Promise.all(protos)).flatMap((text) =>
      [...text.matchAll(/ ([a-z]+(?:_[a-z0-9]+)+) = \d+;/g)].map(([, name = '']) => name),
    );
    const names = new Set(fields.filter((name) => !inRecords.has(name)));
    expect(names.has('account_id')).toBe(true);
    wireNames = new RegExp(`\\b(?:${[...names].join('|')})\\b|\\bafter must\\b`);
  });

  test('says what to do, in words of operators: 2 is misuse, 1 is failure', async () => {
    const { key } = await json('key create acme');
    const active = JSON.parse((await bds('key create acme --json')).out);
    const revokedKey = key?.id ?? '';
    await json(`key revoke ${revokedKey} --yes`);
    const made: Record<string, string> = {
      revokedKey,
      activeKey: active.key.id,
      token: active.token,
      wrongToken: join(folder, 'wrong-token'),
      long: 'x'.repeat(300),
    };
    expect(badCommands.length).toBeGreaterThanOrEqual(60);
    // Each message names what is wrong and then what to do. There is the plan team and the record acme. The account acme is open, and
    // gone is closed.
    for (const [typed, status, says] of badCommands) {
      const line = String(typed).replace(/\{(\w+)\}/g, (_, name: string) => made[name] ?? '');
      const { code, errors } = await bds(line);
      expect
        .soft({ line, code, errors })
        .toEqual({ line, code: status, errors: expect.stringMatching(String(says)) });
      expect.soft(errors, line).not.toContain(active.token);
      expect.soft(errors, line).not.toMatch(WORDS_OF_GRPC);
      expect.soft(errors, line).not.toMatch(/^\s+at |node:internal|\.ts:\d+/m);
      expect.soft(errors, line).not.toMatch(wireNames);
    }
  });
});

const WORDS_OF_GRPC =
  /\b(?:grpc|protobuf|RST_STREAM|deadline|CANCELLED|UNKNOWN|INVALID_ARGUMENT|DEADLINE_EXCEEDED|NOT_FOUND|ALREADY_EXISTS|PERMISSION_DENIED|RESOURCE_EXHAUSTED|FAILED_PRECONDITION|ABORTED|OUT_OF_RANGE|UNIMPLEMENTED|INTERNAL|UNAVAILABLE|DATA_LOSS|UNAUTHENTICATED)\b/;

interface Check {
  state: string;
  part: string;
  check: string;
  found: string;
  advice: string;
}

/** What the doctor says. The test before takes nothing away that the next one needs. */
describe('the doctor', () => {
  const examine = async (line = 'doctor', env?: NodeJS.ProcessEnv) => {
    const { code, out, errors } = await bds(`${line} --json`, env);
    const { checks } = JSON.parse(out) as { checks: Check[] };
    return {
      code,
      errors,
      checks,
      bad: checks.filter(({ state }) => state === 'wrong' || state === 'warning'),
    };
  };
  /** The disk of the machine that runs the test may be full. */
  const notDisk = ({ check }: Check) => check !== 'disk of MongoDB';
  const withGateway = () => `doctor --gateway ${stack.gateways[0]?.opsUrl}`;

  test('finds nothing wrong with a whole installation, and has looked at every part of it', async () => {
    const { code, checks, bad } = await examine(withGateway());
    expect(bad.filter(notDisk)).toEqual([]);
    expect(code).toBe(bad.some(({ state }) => state === 'wrong') ? 1 : 0);
    const found = checks.map(({ part, check }) => `${part}: ${check}`);
    for (const part of ['accounts', 'catalog', 'metering', 'images'])
      for (const check of [
        'connection',
        'credential',
        'version',
        'MongoDB',
        'indexes',
        'NATS',
        'certificate',
        'clock',
      ])
        expect(found).toContain(`${part}: ${check}`);
    expect(found).toContain('metering: consumer of BRAND_DATA_USAGE');
    expect(found).toContain('metering: stream BRAND_DATA_USAGE');
    expect(found).toContain('accounts: stream BRAND_DATA_ACCOUNT_CHANGES');
    expect(found).toContain('accounts: consumer of BRAND_DATA_AUDIT');
    expect(found).toContain('services: clocks');
    expect(found).toContain(`${stack.gateways[0]?.opsUrl}: readiness`);
  });

  test('skips a part without an address', async () => {
    const { checks, errors } = await examine('doctor', { BDS_IMAGES: undefined });
    expect(checks).toContainEqual(expect.objectContaining({ part: 'images', state: 'skipped' }));
    expect(errors).not.toContain('images');
  });

  test('fails because of a warning only with --strict', async () => {
    const connection = await connect({ servers: stack.natsUrl });
    try {
      await jetstream(connection).publish(USAGE_DEAD_LETTER_SUBJECT, 'unreadable');
    } finally {
      await connection.close();
    }
    const { code, bad } = await examine();
    expect(bad).toContainEqual(expect.objectContaining({ state: 'warning', check: 'dead letters' }));
    if (bad.every(({ state }) => state === 'warning')) expect(code).toBe(0);
    expect((await examine('doctor --strict')).code).toBe(1);
  });

  test('says what is wrong with a credential', async () => {
    const { code, bad } = await examine(`doctor --operator-token-file ${join(folder, 'wrong-token')}`);
    expect(code).toBe(1);
    expect(bad.map(({ part, check }) => `${part}: ${check}`).sort()).toEqual(
      ['accounts', 'catalog', 'images', 'metering'].map((part) => `${part}: credential`),
    );
    for (const { advice } of bad) expect(advice).toMatch(/check --as/);
  });

  test('finds an index that is missing', async () => {
    const client = await new MongoClient(stack.mongodbUrl).connect();
    try {
      await client.db(`${stack.databasePrefix}_catalog`).collection('brands').dropIndex('imports');
    } finally {
      await client.close();
    }
    const { code, bad } = await examine();
    expect(code).toBe(1);
    expect(bad).toContainEqual(
      expect.objectContaining({
        part: 'catalog',
        check: 'indexes',
        found: expect.stringContaining('brands.imports'),
      }),
    );
    await stack.restart('catalog');
    expect((await examine()).bad.filter(({ check }) => check === 'indexes')).toEqual([]);
  });

  test('says which part does not answer, and goes on with all others', async () => {
    await stack.kill('images');
    const { code, bad, checks } = await examine(withGateway());
    expect(code).toBe(1);
    expect(bad.filter(notDisk).filter(({ check }) => check !== 'dead letters')).toEqual([
      expect.objectContaining({
        state: 'wrong',
        part: 'images',
        check: 'connection',
        found: expect.stringContaining('nothing listens there'),
        advice: expect.stringMatching(/^Check that images runs/),
      }),
    ]);
    expect(checks).toContainEqual(
      expect.objectContaining({ part: 'metering', check: 'MongoDB', state: 'ok' }),
    );
  });

  test('names accounts alone if accounts is down, which gives an operator the passes for the other services', async () => {
    const made = await json('operator create ben --role read');
    const file = join(folder, 'ben');
    await writeFile(file, String(made.credential));
    await stack.kill('accounts');
    const { code, bad, checks } = await examine(
      `doctor --metering 127.0.0.1:1 --operator-token-file ${file}`,
    );
    expect(code).toBe(1);
    expect(bad.map(({ part, check }) => `${part}: ${check}`)).toEqual(['accounts: connection']);
    expect(checks.filter(({ state }) => state === 'skipped').map(({ part }) => part)).toEqual(
      expect.arrayContaining(['catalog', 'metering', 'images']),
    );
    await stack.restart('accounts');
  });

  test('says that NATS is gone, while every service still answers', async () => {
    await stack.kill('nats-server');
    const { code, checks } = await examine(withGateway());
    expect(code).toBe(1);
    for (const part of ['accounts', 'catalog', 'metering'])
      expect(checks).toContainEqual(expect.objectContaining({ part, check: 'NATS', state: 'wrong' }));
    for (const part of ['accounts', 'catalog', 'metering'])
      expect(checks).toContainEqual(expect.objectContaining({ part, check: 'MongoDB', state: 'ok' }));
  });
});
