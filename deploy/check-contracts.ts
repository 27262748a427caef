// Part of npm run lint: compares the contracts with those of the last release, and names each change that breaks those who use them.
import { spawnSync } from 'node:child_process';
import { type Json, OPENAPI, RECORD_SCHEMA, RELEASED_PROTO } from './release/contracts.ts';

/**
 * Whether a schema describes what we send or what we accept. What the last release accepted must stay valid, and nothing that it
 * sent may disappear.
 */
export type Direction = 'sent' | 'accepted';

/** Keywords that make a JSON Schema narrower where they are added. */
const NARROWING = new Set([
  'additionalProperties',
  'allOf',
  'const',
  'else',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'if',
  'maxItems',
  'maxLength',
  'maximum',
  'minItems',
  'minLength',
  'minimum',
  'multipleOf',
  'not',
  'pattern',
  'required',
  'then',
  'type',
  'unevaluatedProperties',
  'uniqueItems',
]);

/**
 * Returns a sentence for each part of a released document that the present document lacks or has changed. What is only added
 * breaks nothing, except a condition on what we accept. Callers must expect further values of what we send. A pattern may allow more.
 */
export function breakingChanges(released: Json, present: Json, direction: Direction, at = '#'): string[] {
  if (Array.isArray(released) && Array.isArray(present)) {
    const lost = released.filter(
      (item) => !present.some((other) => breakingChanges(item, other, direction).length === 0),
    );
    const isNarrower = /\/(?:allOf|required)$/.test(at) && present.length > released.length;
    return [
      ...lost.map((item) => `${at} no longer has ${JSON.stringify(item).slice(0, 100)}`),
      ...(direction === 'accepted' && isNarrower ? [`${at} has a new condition`] : []),
      ...(at.endsWith('/parameters') && requiredIn(present) > requiredIn(released)
        ? [`${at} has a new required parameter`]
        : []),
    ];
  }
  if (isObject(released) && isObject(present)) {
    const added = Object.keys(present).filter((key) => !(key in released) && NARROWING.has(key));
    // Callers send the parameters of what we answer.
    const directionOf = (key: string) => (key === 'parameters' ? 'accepted' : direction);
    return [
      ...Object.entries(released).flatMap(([key, value]) =>
        present[key] === undefined
          ? [`${at}/${key} is gone`]
          : breakingChanges(value, present[key], directionOf(key), `${at}/${key}`),
      ),
      ...(direction === 'accepted' && !at.endsWith('/properties')
        ? added.map((key) => `${at} has a new condition: ${key}`)
        : []),
    ];
  }
  if (released === present || (at.endsWith('/pattern') && isWidened(released, present))) return [];
  return [
    `${at} is ${JSON.stringify(present).slice(0, 100)} and was ${JSON.stringify(released).slice(0, 100)}`,
  ];
}

/**
 * Checks whether a pattern differs only by further alternatives in its groups: "(ticker|name)", "(ticker|name|isin)". Further
 * alternatives of a group such as "(?!…)" could exclude something.
 */
function isWidened(released: Json, present: Json): boolean {
  const [before = [], after = []] = [released, present].map((pattern) =>
    String(pattern).split(/\(([^()]+)\)/),
  );
  return (
    before.length === after.length &&
    before.every((part, index) =>
      index % 2 === 0 || part.startsWith('?')
        ? part === after[index]
        : part.split('|').every((alternative) => after[index]?.split('|').includes(alternative)),
    )
  );
}

function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function requiredIn(parameters: readonly Json[]): number {
  return parameters.filter((each) => isObject(each) && each.required === true).length;
}

if (import.meta.main) {
  const { status } = spawnSync('buf', ['breaking', '--against', RELEASED_PROTO], { stdio: 'inherit' });
  const found = [
    { ...OPENAPI, name: 'The OpenAPI document', direction: 'sent' as const },
    { ...RECORD_SCHEMA, name: 'The schema of records', direction: 'accepted' as const },
  ].flatMap(({ released, present, name, direction }) =>
    breakingChanges(released(), present(), direction).map(
      (change) => `${name} breaks the last release's: ${change}.`,
    ),
  );
  for (const change of found) process.stderr.write(`${change}\n`);
  if (status !== 0 || found.length > 0) process.exit(1);
}
