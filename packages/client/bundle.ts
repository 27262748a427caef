import { build } from 'rolldown';

/**
 * Bundles a module for browsers with all that it imports, and writes it as one minified module. Of the comments it keeps those of
 * licences.
 */
export async function bundle(input: string, file: string): Promise<void> {
  await build({
    input,
    platform: 'browser',
    transform: { target: 'es2023' },
    output: { file, format: 'esm', minify: true, comments: { legal: true, annotation: false, jsdoc: false } },
  });
}
