import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { PYTHON_PROGRAMS } from '../python/python.ts';

const COMMAND = join(PYTHON_PROGRAMS, 'schemathesis');

interface SchemathesisRun {
  /** The number of requests that were made up and sent. */
  cases: number;
  failures: unknown[];
  errors: unknown[];
  /** The output of Schemathesis. */
  output: string;
}

/** The routes whose requests Schemathesis varies. */
const VARIED_ROUTES = 3;

/**
 * Runs Schemathesis against a gateway, with a token: it calls each operation of the gateway's OpenAPI document with data that the
 * document allows and with data that it does not, and checks all answers by the document.
 *
 * @param cases the number of requests at least
 * @param seed makes two runs send the same requests. By default each run has its own, which is in the output
 */
export async function runSchemathesis(
  gateway: { url: string },
  token: string,
  { cases, seed }: { cases: number; seed?: number | undefined },
): Promise<SchemathesisRun> {
  const folder = await temporaryFolder();
  const report = join(folder, 'report.json');
  const output = await new Promise<string>((resolve) => {
    execFile(
      COMMAND,
      [
        '--config-file',
        join(import.meta.dirname, 'schemathesis.toml'),
        'run',
        `${gateway.url}/openapi.json`,
        '--phases',
        'examples,coverage,fuzzing',
        '--max-examples',
        String(Math.ceil(cases / VARIED_ROUTES)),
        '--continue-on-failure',
        '--report',
        'json',
        '--report-json-path',
        report,
        ...(seed === undefined ? [] : ['--seed', String(seed)]),
      ],
      // Schemathesis creates a folder in the current one.
      { cwd: folder, env: { ...process.env, API_TOKEN: token }, maxBuffer: 64 * 1024 ** 2 },
      (_error, stdout, stderr) => resolve(stdout + stderr),
    );
  });
  if (!existsSync(report)) throw new Error(`Schemathesis did not run to its end:\n${output}`);
  const { test_cases, failures, errors } = JSON.parse(await readFile(report, 'utf8'));
  return { cases: test_cases.generated, failures, errors, output };
}
