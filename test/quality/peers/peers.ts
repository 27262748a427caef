import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Brand } from '@brand-data/contracts';
import { openTable } from '@brand-data/importers/src/formats/table.ts';
import { MemoryCatalogue } from '../memory-catalogue.ts';
import { readInputs } from '../score-inputs.ts';
import { sec } from '../sources.ts';

export const USAGE = `Usage: npm run quality -- peers --data FOLDER

Compares this product's answers to names with those of the Python packages RapidFuzz and name-matching. README.md tells how.
  --data FOLDER    has the folders sec and names`;

export const OPTIONS = { data: { type: 'string' } } as const;

/** What a contestant answers: the answer's place in the catalogue's list of names, and how sure it is. */
type Answer = readonly [place: number | null, score: number];
type Verdict = 'right' | 'nothing' | 'wrong';

/** Names to look for in a catalogue of names. */
interface Task {
  readonly title: string;
  readonly names: readonly string[];
  readonly queries: readonly string[];
  readonly ours: readonly (number | null)[];
  judge(query: number, place: number | null): Verdict;
}

export async function run({ data }: Record<string, string | undefined>): Promise<void> {
  if (data === undefined) {
    console.log(USAGE);
    process.exit(2);
  }
  const tasks = [await newsNames(data), await namePairs(data)];
  const python = execFileSync(join(import.meta.dirname, '../../python/get-packages'), ['peers'], {
    encoding: 'utf8',
  });
  const answered = execFileSync(join(python.trim(), 'bin/python'), [join(import.meta.dirname, 'peers.py')], {
    input: JSON.stringify(tasks.map(({ names, queries }) => ({ names, queries }))),
    maxBuffer: 64 * 1024 * 1024,
    encoding: 'utf8',
  });
  const ways = Object.entries(JSON.parse(answered) as Record<string, Answer[][]>);
  for (const [index, task] of tasks.entries()) {
    console.log(`${task.title}: ${task.queries.length} names, ${task.names.length} companies`);
    console.log(rowOf('this product', verdictsOn(task, task.ours)));
    for (const [way, answers] of ways) {
      const { threshold, verdicts } = best(task, answers[index] ?? []);
      console.log(rowOf(`${way}, from ${threshold}`, verdicts));
    }
    for (const [query, verdict] of verdictsOn(task, task.ours).entries()) {
      if (verdict === 'right') continue;
      const answer = task.names[task.ours[query] ?? -1] ?? '-';
      console.log(`  ${verdict.padEnd(8)} ${task.queries[query]}\t${answer}`);
    }
  }
}

const rowOf = (title: string, verdicts: readonly Verdict[]) =>
  [
    title.padEnd(50),
    ...(['right', 'nothing', 'wrong'] as const).map((each) => `${each} ${countOf(verdicts, each)}`),
  ].join('  ');

const countOf = (verdicts: readonly Verdict[], wanted: Verdict) =>
  verdicts.filter((verdict) => verdict === wanted).length;

const verdictsOn = (task: Task, places: readonly (number | null)[]) =>
  places.map((place, query) => task.judge(query, place));

/** The verdicts with the lowest accepted score that gives the most right answers beyond the wrong ones. */
function best(task: Task, answers: readonly Answer[]) {
  const tried = Array.from({ length: 101 }, (_, threshold) => {
    const verdicts = verdictsOn(
      task,
      answers.map(([place, score]) => (score >= threshold ? place : null)),
    );
    return { threshold, verdicts, gain: countOf(verdicts, 'right') - countOf(verdicts, 'wrong') };
  });
  return tried.reduce((one, other) => (other.gain > one.gain ? other : one));
}

/** Names as people write them, looked for among the companies of the SEC's list. */
async function newsNames(data: string): Promise<Task> {
  const file = join(data, 'sec/company_tickers_exchange.json');
  const { data: rows } = JSON.parse(await readFile(file, 'utf8')) as { data: [string, string, string][] };
  const companies = new Map(
    rows.map(([cik, name]) => [`cik-${cik}`, name]).toReversed() as [string, string][],
  );
  const ids = [...companies.keys()];
  const places = new Map(rows.map(([cik, , ticker]) => [ticker, ids.indexOf(`cik-${cik}`)]));
  const inputs = await readInputs(join(import.meta.dirname, 'news-names.txt'));
  const catalogue = new MemoryCatalogue();
  const source = sec(file);
  await catalogue.put(source.source, source.read());
  const queries = inputs.map(({ input }) => input);
  return {
    title: "The SEC's list",
    names: [...companies.values()],
    queries,
    ours: queries.map((query) => placeOf(catalogue, query, ids)),
    judge(query, place) {
      const expected = places.get(inputs[query]?.expected ?? '') ?? null;
      if (place === expected) return 'right';
      return place === null ? 'nothing' : 'wrong';
    },
  };
}

const ORGANIZATIONS = ['Company', 'Organization'];

/** The pairs of nomenklatura's benchmark that name organizations: the first name, looked for among all second names. */
async function namePairs(data: string): Promise<Task> {
  await using table = await openTable(join(data, 'names/name-bench-cases.csv'));
  const pairs: { name1: string; name2: string; isMatch: boolean }[] = [];
  for await (const row of table.rows) {
    if ('problem' in row || !ORGANIZATIONS.includes(row.cells.get('schema') ?? '')) continue;
    const [name1 = '', name2 = '', isMatch] = ['name1', 'name2', 'is_match'].map((column) =>
      row.cells.get(column),
    );
    pairs.push({ name1, name2, isMatch: isMatch === 'true' });
  }
  const names = [...new Set(pairs.map(({ name2 }) => name2))];
  const groupOf = groupsOf(pairs.filter(({ isMatch }) => isMatch));
  const ids = names.map((_, index) => `name-${index}`);
  const catalogue = new MemoryCatalogue();
  await catalogue.put(
    'names',
    names.map((name, index) => Brand.create({ id: ids[index] ?? '', name })),
  );
  return {
    title: "nomenklatura's pairs",
    names,
    queries: pairs.map(({ name1 }) => name1),
    ours: pairs.map(({ name1 }) => placeOf(catalogue, name1, ids)),
    judge(query, place) {
      const { name1 = '', name2 = '', isMatch } = pairs[query] ?? {};
      const answer = names[place ?? -1];
      if (!isMatch) return answer === name2 ? 'wrong' : 'right';
      if (answer === undefined) return 'nothing';
      return groupOf(answer) === groupOf(name1) ? 'right' : 'wrong';
    },
  };
}

/** Returns a function that gives all names of one organization, as pairs of equal names tell, the same text. */
function groupsOf(pairs: readonly { name1: string; name2: string }[]): (name: string) => string {
  const parents = new Map<string, string>();
  const groupOf = (name: string): string => {
    const parent = parents.get(name);
    return parent === undefined ? name : groupOf(parent);
  };
  for (const { name1, name2 } of pairs) {
    const [one, other] = [groupOf(name1), groupOf(name2)];
    if (one !== other) parents.set(one, other);
  }
  return groupOf;
}

function placeOf(catalogue: MemoryCatalogue, query: string, ids: readonly string[]): number | null {
  const [meant] = catalogue.resolve(query, { superinvestors: false });
  const place = ids.indexOf(meant?.brand.id ?? '');
  return place < 0 ? null : place;
}
