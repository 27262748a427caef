/**
 * `node deploy/chart/values-readme.ts` writes the table of values in README.md from values.yaml. The comment above a value is its
 * documentation. Everything below a documented value is its default.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

export interface DocumentedValue {
  /** The keys that lead to the value. */
  path: string[];
  default: unknown;
  text: string;
}

const README = join(import.meta.dirname, 'README.md');
const VALUES = join(import.meta.dirname, 'values.yaml');
const BEGIN = '<!-- values: from values.yaml, by values-readme.ts -->';
const END = '<!-- /values -->';

/** Returns all values that have a comment, in the order of the file. */
export function documentedValues(yaml: string): DocumentedValue[] {
  const all: unknown = parse(yaml);
  const found: DocumentedValue[] = [];
  let comment: string[] = [];
  const path: string[] = [];
  for (const line of yaml.split('\n')) {
    const [, remark] = /^ *# ?(.*)$/.exec(line) ?? [];
    if (remark !== undefined) {
      comment.push(remark);
      continue;
    }
    const [, indent = '', key] = /^( *)([A-Za-z]+):/.exec(line) ?? [];
    if (key !== undefined) {
      path.splice(indent.length / 2, path.length, key);
      if (comment.length > 0)
        found.push({ path: [...path], default: valueAt(all, path), text: comment.join(' ') });
    }
    comment = [];
  }
  return found;
}

/** Returns the README with the table of `values`. Throws if the README has no place for the table. */
export function withTable(readme: string, values: readonly DocumentedValue[]): string {
  const [before, rest] = [readme.split(BEGIN)[0], readme.split(END)[1]];
  if (before === readme || rest === undefined) throw new Error(`README.md lacks ${BEGIN} … ${END}`);
  const rows = values.map(
    ({ path, default: value, text }) =>
      `| \`${path.join('.')}\` | \`${JSON.stringify(value).replaceAll('|', '\\|')}\` | ${text.replaceAll('|', '\\|')} |`,
  );
  const table = ['| value | default | what it does |', '| --- | --- | --- |', ...rows].join('\n');
  return `${before}${BEGIN}\n\n${table}\n\n${END}${rest}`;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, key) => Object(inner)[key], value);
}

if (import.meta.main)
  await writeFile(
    README,
    withTable(await readFile(README, 'utf8'), documentedValues(await readFile(VALUES, 'utf8'))),
  );
