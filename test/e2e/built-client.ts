import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const CLIENT = join(import.meta.dirname, '../../packages/client');

/** Builds packages/client in `node_modules` of the folder, where programs in the folder find it. Resolves to its `dist`. */
export async function buildClientIn(folder: string): Promise<string> {
  const target = join(folder, 'node_modules/@brand-data/client');
  await promisify(execFile)(process.execPath, [join(CLIENT, 'build.ts'), target], { timeout: 100_000 });
  return join(target, 'dist');
}

/**
 * Returns the examples in a language on the client's page, with the service's URL and the token of a test in place of the made-up
 * ones.
 */
export async function clientExamples(
  language: string,
  { url, token }: { url: string; token: string },
): Promise<string[]> {
  const page = await readFile(join(CLIENT, 'README.md'), 'utf8');
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text = '']) =>
    text.replaceAll('https://api.example.com', url).replaceAll('pk_…', token),
  );
}
