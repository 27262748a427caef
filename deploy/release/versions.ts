/**
 * `node deploy/release/versions.ts [FOLDER]` writes the version of package.json into all other files that name it: the packages, the
 * chart and the images. It is a part of `npm run generate`. FOLDER is the repository, by default this one.
 */
import { glob, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** The files that name the version, and where. */
const PLACES: { files: string; place: RegExp }[] = [
  { files: '{packages,services,deploy}/*/package.json', place: /(?<="version": ")[^"]*/ },
  { files: 'test/package.json', place: /(?<="version": ")[^"]*/ },
  { files: 'packages/client/python/pyproject.toml', place: /(?<=^version = ")[^"]*/m },
  { files: 'deploy/chart/Chart.yaml', place: /(?<=^version: ).*$/m },
  { files: 'deploy/chart/Chart.yaml', place: /(?<=^appVersion: ).*$/m },
  { files: 'deploy/images/Dockerfile', place: /(?<=^ARG VERSION=).*$/m },
];

/** Writes the version of the root's package.json into all other files that name it. Throws if a file does not name one. */
export async function spreadVersion(root: string): Promise<void> {
  const { version }: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  for (const { files, place } of PLACES)
    for await (const path of glob(files, { cwd: root })) {
      const text = await readFile(join(root, path), 'utf8');
      if (!place.test(text)) throw new Error(`${path} names no version`);
      await writeFile(join(root, path), text.replace(place, version));
    }
}

if (import.meta.main) await spreadVersion(resolve(process.argv[2] ?? join(import.meta.dirname, '../..')));
