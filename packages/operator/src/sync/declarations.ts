import { basename } from 'node:path';
import { problemOfSource, reportErrors } from '@brand-data/records';
import { readSettingFiles } from '@brand-data/runtime';
import { Cron } from 'croner';
import Type, { type Static, type TProperties } from 'typebox';
import { Compile } from 'typebox/compile';
import { LineCounter, parseDocument } from 'yaml';
import { UsageError } from '../connection/failures.ts';

const closed = <Fields extends TProperties>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false });
const percent = Type.Optional(Type.Integer({ minimum: 0, maximum: 100 }));
const text = Type.String({ minLength: 1 });

const SourceSchema = closed({
  name: text,
  kind: text,
  files: Type.Optional(
    Type.Array(closed({ from: text, as: Type.Optional(text), checksum: Type.Optional(text) }), {
      minItems: 1,
    }),
  ),
  schedule: text,
  prune: Type.Optional(Type.Boolean()),
  options: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  bounds: Type.Optional(
    closed({
      bytes: Type.Optional(Type.Integer({ minimum: 1 })),
      seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 604_800 })),
      requests_per_second: Type.Optional(Type.Number({ minimum: 0.01, maximum: 1_000 })),
    }),
  ),
  guards: Type.Optional(
    closed({
      removed: percent,
      changed: percent,
      shrunk: percent,
      famous: Type.Optional(
        closed({
          rank: Type.Integer({ minimum: 1, maximum: 1_000 }),
          // Of the companies that an import changes, catalog names the 20 best known.
          most: Type.Integer({ minimum: 0, maximum: 19 }),
        }),
      ),
    }),
  ),
});
const FILE = Compile(
  closed({ contact: Type.Optional(text), sources: Type.Array(SourceSchema, { minItems: 1 }) }),
);

const DEFAULT_BOUNDS = { bytes: 4 * 2 ** 30, seconds: 3_600, requests_per_second: 1 };
const DEFAULT_GUARDS = { removed: 10, changed: 50, shrunk: 50, famous: { rank: 900, most: 10 } };
/** The end of the names of what stands beside a fetched file: its state, and its beginning. */
export const BESIDE_FILE = /(?:\.part)?(?:\.state\.json(?:\.new)?)?$/;

/** A source as its declaration names it, with the defaults of what it leaves out. */
export interface DeclaredSource extends Pick<Static<typeof SourceSchema>, 'name' | 'kind' | 'schedule'> {
  files: { from: string; as: string; checksum?: string | undefined }[];
  /** The values of the variables in URLs, as they stand there. No message may show them. */
  secrets: string[];
  prune: boolean;
  /** The options of `bds import KIND`, as words of a command line. */
  options: string[];
  bounds: typeof DEFAULT_BOUNDS;
  guards: typeof DEFAULT_GUARDS;
}

export interface Declarations {
  /** Who fetches: what publishers read in the requests. */
  contact: string;
  sources: DeclaredSource[];
}

/**
 * Reads a file of sources. Throws a UsageError with all its mistakes, each with its line.
 *
 * @param shown the name of the file
 * @param checks.problemOfImport says what `bds import` would refuse of a source
 * @param checks.env has the variables that URLs name
 */
export function readDeclarations(
  yaml: string,
  shown: string,
  checks: { problemOfImport: (source: DeclaredSource) => string | undefined; env: NodeJS.ProcessEnv },
): Declarations {
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines });
  const problems = document.errors.map(({ message, pos }) => ({ at: pos[0], text: message.split('\n')[0] }));
  const report = (field: string, problem: string) =>
    problems.push({ at: placeOf(document, field), text: `${field} ${problem}` });
  const declared = document.toJS() as unknown;
  const result: Declarations = { contact: '', sources: [] };
  if (problems.length === 0 && !FILE.Check(declared)) reportErrors(FILE, declared, report);
  if (problems.length === 0 && FILE.Check(declared)) {
    result.contact = declared.contact ?? '';
    for (const [index, source] of declared.sources.entries()) {
      const field = `sources[${index}]`;
      const complete = completed(source, checks.env, (name, problem) => report(`${field}.${name}`, problem));
      if (result.sources.some(({ name }) => name === complete.name))
        report(`${field}.name`, 'is that of an earlier source: give each source its own');
      const refused = checks.problemOfImport(complete);
      if (refused !== undefined) report(field, `would be refused by bds import: ${refused}`);
      result.sources.push(complete);
    }
    if (
      declared.contact === undefined &&
      result.sources.some(({ files }) => files.some(({ from }) => isUrl(from)))
    )
      report(
        'contact',
        'is missing: your name and e-mail address, which publishers want to know of who fetches',
      );
    // It is a part of a header.
    if (/[^ -~]/.test(result.contact))
      report('contact', 'must have only letters without accents, digits and punctuation');
  }
  if (problems.length === 0) return result;
  const sorted = problems.sort((a, b) => a.at - b.at);
  const told = sorted.map(({ at, text }) => `${shown}:${lines.linePos(at).line}: ${text}`);
  throw new UsageError([...new Set(told)].join('\n'));
}

export function isUrl(from: string): boolean {
  return /^https?:\/\//i.test(from);
}

/** Checks the name of a fetched file, which must differ from the names of what stands beside one. */
function isFileName(name: string): boolean {
  return /^[\w-][\w.-]*$/.test(name) && name.replace(BESIDE_FILE, '') === name;
}

function completed(
  source: Static<typeof SourceSchema>,
  env: NodeJS.ProcessEnv,
  report: (field: string, problem: string) => void,
): DeclaredSource {
  const { name, kind, schedule, prune = false, bounds, guards } = source;
  const problem = problemOfSource(name);
  if (problem !== undefined) report('name', `is wrong: the ${problem}`);
  if (!isSchedule(schedule))
    report('schedule', 'is no cron text of five fields, such as "15 6 * * 1-5" (UTC; Sunday is 0)');
  const secrets: string[] = [];
  const files = (source.files ?? []).map(({ from, as, checksum }, index) => {
    const field = `files[${index}]`;
    const given = (name: string, text: string) => {
      const filled = withVariables(text, env, (problem) => report(`${field}.${name}`, problem));
      secrets.push(...filled.values);
      return filled.url;
    };
    if (isUrl(from) && !URL.canParse(from)) report(`${field}.from`, 'is no URL');
    if (checksum !== undefined && !(isUrl(checksum) && URL.canParse(checksum)))
      report(`${field}.checksum`, 'is not the URL of a file with the checksum');
    const named = as ?? basename(isUrl(from) ? (URL.parse(from)?.pathname ?? '') : from);
    if (!isFileName(named))
      report(
        `${field}.as`,
        'must be the name that the file gets: letters, digits, - and ., and not .part or .state.json at the end',
      );
    return {
      from: isUrl(from) ? given('from', from) : from,
      as: named,
      checksum: checksum && given('checksum', checksum),
    };
  });
  for (const [index, { as }] of files.entries())
    if (files.findIndex((file) => file.as === as) < index)
      report(`files[${index}].as`, `is missing: an earlier file is named ${as} too`);
  return {
    name,
    kind,
    schedule,
    prune,
    files,
    secrets,
    options: wordsOf(source.options ?? {}, (option, text) => report(`options.${option}`, text)),
    bounds: { ...DEFAULT_BOUNDS, ...bounds },
    guards: { ...DEFAULT_GUARDS, ...guards },
  };
}

/** Puts the variables into a URL, as parts of its path or query. A secret in a URL therefore need not stand in the file. */
function withVariables(text: string, env: NodeJS.ProcessEnv, report: (problem: string) => void) {
  const values: string[] = [];
  const url = text.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const { environment, problems } = readSettingFiles(env, [name]);
    const value = environment[name];
    const wrong = problems.get(name);
    if (wrong !== undefined) report(`names ${name}, which is wrong: ${wrong}`);
    else if (!value)
      report(`names ${name}, which has no value: set this environment variable, or ${name}_FILE`);
    values.push(encodeURIComponent(value ?? ''));
    return values.at(-1) ?? '';
  });
  return { url, values };
}

/** Options that the declaration and bds sync themselves give. */
const OWN_OPTIONS = ['source', 'prune', 'dry-run', 'json'];

function wordsOf(options: object, report: (option: string, problem: string) => void): string[] {
  return Object.entries(options).flatMap(([option, value]) => {
    if (OWN_OPTIONS.includes(option)) report(option, 'is given by the declaration or by bds sync: remove it');
    const values = (Array.isArray(value) ? value : [value]) as unknown[];
    if (values.some((each) => !['string', 'number', 'boolean'].includes(typeof each)))
      report(option, 'must be a text, a number, true, or a list of these');
    return values.flatMap((each) =>
      each === false ? [] : each === true ? [`--${option}`] : [`--${option}=${each}`],
    );
  });
}

/** Takes the part of cron that all schedulers read alike. Kubernetes knows Sunday as 0 alone. */
function isSchedule(schedule: string): boolean {
  try {
    return /^[\d*,/ -]+ [0-6*,/-]+$/.test(schedule) && Number.isFinite(nextTick(schedule, 0));
  } catch {
    return false;
  }
}

/** Returns the first time of a schedule after this one, in milliseconds since 1970. Schedules are in UTC. */
export function nextTick(schedule: string, afterMs: number): number {
  const cron = new Cron(schedule, { timezone: 'UTC', mode: '5-part' });
  return cron.nextRun(new Date(afterMs))?.getTime() ?? Number.POSITIVE_INFINITY;
}

/** Returns where a field stands, or what is nearest around it. */
function placeOf(document: ReturnType<typeof parseDocument>, field: string): number {
  const path = field.split(/[.[\]]+/).filter((step) => step !== '');
  for (let length = path.length; length > 0; length--) {
    const found = document.getIn(
      path.slice(0, length).map((step) => (/^\d+$/.test(step) ? Number(step) : step)),
      true,
    ) as { range?: [number, number, number] } | undefined;
    if (found?.range) return found.range[0];
  }
  return 0;
}
