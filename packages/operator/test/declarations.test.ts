import { expect, test } from 'vitest';
import { nextTick, readDeclarations } from '../src/sync/declarations.ts';

const GOOD = `
contact: Example Ltd, data@example.com
sources:
  - name: sec
    kind: csv
    files:
      - from: https://www.sec.gov/files/company_tickers_exchange.json
      - from: prices.csv
    schedule: "15 6 * * 1-5"
    prune: true
    options:
      merge: true
      decimal-comma: false
      id-prefix: cik-
      map: [cik=id, "name=name"]
    bounds: { seconds: 60 }
    guards: { removed: 5 }
`;

const CHECKS = {
  problemOfImport: (): string | undefined => undefined,
  env: { LISTS_KEY: 'a&b c' } as NodeJS.ProcessEnv,
};
const read = (yaml: string) => readDeclarations(yaml, 'sources.yaml', CHECKS);

/** Returns what is wrong with a file, with its lines. */
function problemsOf(yaml: string, checks = CHECKS): string[] {
  try {
    readDeclarations(yaml, 'sources.yaml', checks);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n');
  }
}

test('a declaration has the options of bds import, and defaults for what it leaves out', () => {
  expect(read(GOOD)).toEqual({
    contact: 'Example Ltd, data@example.com',
    sources: [
      {
        name: 'sec',
        kind: 'csv',
        files: [
          {
            from: 'https://www.sec.gov/files/company_tickers_exchange.json',
            as: 'company_tickers_exchange.json',
            checksum: undefined,
          },
          { from: 'prices.csv', as: 'prices.csv', checksum: undefined },
        ],
        secrets: [],
        schedule: '15 6 * * 1-5',
        prune: true,
        options: ['--merge', '--id-prefix=cik-', '--map=cik=id', '--map=name=name'],
        bounds: { bytes: 4 * 2 ** 30, seconds: 60, requests_per_second: 1 },
        guards: { removed: 5, changed: 50, shrunk: 50, famous: { rank: 900, most: 10 } },
      },
    ],
  });
});

test('all mistakes of a file are told at once, each with its line', () => {
  const bad = `sources:
  - name: SEC list
    kind: csv
    files:
      - from: https://example.com/latest.csv
      - from: http://example.com/other/latest.csv
        checksum: sums.txt
      - from: https://example.com/
    schedule: "15 6 * *"
    options:
      source: other
      map: { a: 1 }
  - name: sec
    kind: records
    files: [{ from: a.ndjson }]
    schedule: "0 0 30 2 *"
  - name: sec
    kind: records
    files: [{ from: a.ndjson }]
    schedule: "@daily"
`;
  expect(problemsOf(bad)).toEqual([
    'sources.yaml:1: contact is missing: your name and e-mail address, which publishers want to know of who fetches',
    expect.stringMatching(/^sources\.yaml:2: sources\[0\]\.name is wrong: the source /),
    expect.stringMatching(/^sources\.yaml:6: sources\[0\]\.files\[1\]\.as is missing: an earlier file/),
    expect.stringMatching(/^sources\.yaml:7: sources\[0\]\.files\[1\]\.checksum is not the URL/),
    expect.stringMatching(/^sources\.yaml:8: sources\[0\]\.files\[2\]\.as must be the name/),
    expect.stringMatching(/^sources\.yaml:9: sources\[0\]\.schedule is no cron text/),
    expect.stringMatching(/^sources\.yaml:11: sources\[0\]\.options\.source is given by/),
    expect.stringMatching(/^sources\.yaml:12: sources\[0\]\.options\.map must be a text/),
    expect.stringMatching(/^sources\.yaml:16: sources\[1\]\.schedule is no cron text/),
    expect.stringMatching(/^sources\.yaml:17: sources\[2\]\.name is that of an earlier source/),
    expect.stringMatching(/^sources\.yaml:20: sources\[2\]\.schedule is no cron text/),
  ]);
});

test('a file that declares no sources is refused with the line', () => {
  expect(problemsOf('sources: [\n')).toEqual([expect.stringMatching(/^sources\.yaml:\d: /)]);
  expect(problemsOf('')).not.toEqual([]);
  expect(problemsOf(GOOD.replace('guards:', 'gards:'))).toEqual([
    'sources.yaml:17: sources[0].gards is not a field: remove it',
  ]);
  expect(problemsOf(GOOD.replace('removed: 5', 'removed: 101'))).toEqual([
    'sources.yaml:17: sources[0].guards.removed must be 0 to 100',
  ]);
  expect(problemsOf(GOOD.replace('Example Ltd', 'Żabka'))).toEqual([
    expect.stringMatching(/^sources\.yaml:\d+: contact must have only letters without accents/),
  ]);
  expect(problemsOf(GOOD, { ...CHECKS, problemOfImport: () => 'files are missing' })).toEqual([
    'sources.yaml:4: sources[0] would be refused by bds import: files are missing',
  ]);
});

test('a secret in a URL comes from the environment, and a missing one is reported with its line', () => {
  const url = 'https://example.com/list.csv?key=$' + '{LISTS_KEY}';
  const yaml = GOOD.replace('prices.csv', url);
  expect(read(yaml).sources[0]?.files[1]).toEqual({
    from: 'https://example.com/list.csv?key=a%26b%20c',
    as: 'list.csv',
    checksum: undefined,
  });
  expect(problemsOf(yaml, { ...CHECKS, env: { LISTS_KEY: '' } })).toEqual([
    'sources.yaml:8: sources[0].files[1].from names LISTS_KEY, which has no value: set this environment variable, or LISTS_KEY_FILE',
  ]);
  expect(problemsOf(yaml, { ...CHECKS, env: { LISTS_KEY_FILE: import.meta.dirname } })).toEqual([
    'sources.yaml:8: sources[0].files[1].from names LISTS_KEY, which is wrong: the file that LISTS_KEY_FILE names cannot be read: EISDIR',
  ]);
});

test.each([
  ['a weekday that Kubernetes does not know', '15 6 * * 1-5', '15 6 * * 5-7'],
  ['a name that a file has before it is whole', 'prices.csv', 'prices.csv.part'],
  ['a name that the state of a file has', 'prices.csv', 'prices.csv.state.json'],
  ['a number of companies that catalog never names', 'removed: 5', 'famous: { rank: 900, most: 20 }'],
])('%s is refused', (_, good, bad) => {
  expect(problemsOf(GOOD.replace(good, bad))).toHaveLength(1);
});

test('schedules are in UTC', () => {
  const after = Date.parse('2026-11-27T06:15:00Z');
  expect(new Date(nextTick('15 6 * * 1-5', after)).toISOString()).toBe('2026-11-30T06:15:00.000Z');
});
