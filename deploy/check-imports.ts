// Part of npm run lint: checks the direction of all imports. CONTRIBUTING.md tells the rules and how to mend a violation.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface Import {
  /** The path of the importing file from the root of the repository. */
  from: string;
  /** The path of the imported file, or the package's name with what follows it. */
  to: string;
}

const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*(['"`])((?:\.{1,2}\/|@brand-data\/)[^'"`]+)\1/g;

/** Finds the imports of files and of the repository's packages, those of types too, in the text of one file. */
export function importsOf(file: string, text: string): Import[] {
  return [...text.matchAll(IMPORT)].map(([, , name = '']) => ({
    from: file,
    to: name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
  }));
}

/** Returns a sentence for each violation of the rules. */
export function violations(imports: readonly Import[]): string[] {
  const inside = imports.filter(({ from, to }) => packageOf(from) === packageOf(to));
  const folders = inside
    .filter(({ from }) => !isTest(from))
    .map(({ from, to }) => ({ from: dirname(from), to: dirname(to) }));
  return [
    ...circlesOf(inside).map((circle) => `These files import each other in a circle: ${circle.join(', ')}.`),
    ...circlesOf(folders.filter(({ from, to }) => from !== to)).map(
      (circle) => `These folders import each other in a circle: ${circle.join(', ')}.`,
    ),
    ...imports.flatMap(byName),
  ];
}

const SERVICES = /^(?:@brand-data\/(?:accounts|catalog|gateway|images|metering)\b|services\/)/;

function byName({ from, to }: Import): string[] {
  const found: string[] = [];
  if (from.startsWith('packages/') && SERVICES.test(to))
    found.push(`${from} imports ${to}: a package never imports a service.`);
  if (from.startsWith('services/') && !isTest(from) && to.startsWith('@') && SERVICES.test(to))
    found.push(`${from} imports ${to}: a service never imports a service.`);
  // What lies outside all packages has no name.
  if (!to.startsWith('@') && packageOf(to) !== '' && packageOf(from) !== packageOf(to))
    found.push(`${from} imports ${to}: import what another package holds by the package's name.`);
  if (!isTest(from) && /^@brand-data\/[^/]+\/(?:src|test)\//.test(to))
    found.push(`${from} imports ${to}: only tests import what a package does not export.`);
  if (!isTest(from) && !to.startsWith('@') && isTest(to))
    found.push(`${from} imports ${to}: only tests import files of tests.`);
  return found;
}

/**
 * Returns a sentence for each import of a package that the importing package does not name. Node finds the package all the same,
 * because the root's package.json names it for tests. An image would lack it.
 *
 * @param dependenciesOf returns the names in the package.json of a package's folder
 */
export function undeclared(
  imports: readonly Import[],
  dependenciesOf: (folder: string) => readonly string[],
): string[] {
  return imports
    .filter(({ from, to }) => {
      const [name = ''] = /^@[^/]+\/[^/]+/.exec(to) ?? [];
      return name !== '' && !isTest(from) && !dependenciesOf(packageOf(from)).includes(name);
    })
    .map(
      ({ from, to }) => `${from} imports ${to}: the package.json of its package does not name this package.`,
    );
}

/** Returns the strongly connected sets with more than one member, each sorted. */
function circlesOf(edges: readonly Import[]): string[][] {
  const next = Map.groupBy(edges, ({ from }) => from);
  const reachedFrom = (node: string) => {
    const reached = new Set([node]);
    // The loop also visits the nodes that it adds.
    for (const each of reached) for (const { to } of next.get(each) ?? []) reached.add(to);
    return reached;
  };
  const reached = new Map([...next.keys()].map((node) => [node, reachedFrom(node)]));
  const circles = [...reached].flatMap(([node, others]) => {
    const circle = [...others].filter((other) => reached.get(other)?.has(node)).sort();
    // Each member finds the circle. The first one tells of it.
    return circle.length > 1 && circle[0] === node ? [circle] : [];
  });
  return circles.sort();
}

/** Returns the folder of the package that holds the file: "services/metering", "deploy/local", "test" or, outside all, "". */
function packageOf(file: string): string {
  return /^(?:packages\/[^/]+|services\/[^/]+|deploy\/local|test)(?=\/)/.exec(file)?.[0] ?? '';
}

function isTest(file: string): boolean {
  return /(?:^|\/)test\/|\/screenshots\//.test(file);
}

function dependenciesIn(folder: string): string[] {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.keys({ ...dependencies, ...devDependencies });
}

if (import.meta.main) {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.mjs'], {
    encoding: 'utf8',
  });
  const sources = files.split('\n').filter((file) => existsSync(file) && !file.includes('/gen/'));
  const imports = sources.flatMap((file) => importsOf(file, readFileSync(file, 'utf8')));
  const found = [...violations(imports), ...undeclared(imports, dependenciesIn)];
  for (const violation of found) process.stderr.write(`${violation}\n`);
  if (found.length > 0) process.exit(1);
}
