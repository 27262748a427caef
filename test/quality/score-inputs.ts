import { readFile } from 'node:fs/promises';
import { exchangesOfYahooSuffix } from '@brand-data/identifiers';
import { slugOf } from '@brand-data/records';
import type { MemoryCatalogue } from './memory-catalogue.ts';

type Meaning = ReturnType<MemoryCatalogue['resolve']>[number];
type Verdict = 'right' | 'nothing' | 'wrong';

const AMERICAN_VENUES = ['XNAS', 'XNYS', 'XASE', 'ARCX', 'BATS', 'OTCM'];

/** A line of a file of inputs. The format is at the top of inputs.txt. */
interface Input {
  readonly line: string;
  readonly input: string;
  readonly expected: string;
  readonly group: string;
}

export async function readInputs(file: string): Promise<Input[]> {
  let group = '';
  return (await readFile(file, 'utf8')).split('\n').flatMap((line) => {
    if (line.startsWith('## ')) group = line.slice(3);
    const at = line.lastIndexOf(' = ');
    if (at < 0 || line.startsWith('#')) return [];
    return [{ line, group, input: line.slice(0, at), expected: line.slice(at + 3) }];
  });
}

/** Prints each input whose answer is wrong or missing, with what came back, and counts the verdicts for each class of inputs. */
export async function scoreInputs(catalogue: MemoryCatalogue, inputs: readonly Input[]): Promise<void> {
  const verdicts: { group: string; verdict: Verdict }[] = [];
  for (const { line, group, input, expected } of inputs) {
    const [meant] = catalogue.resolve(input);
    const suggested = meant === undefined ? (await catalogue.suggest(input)).map(({ name }) => name) : [];
    const verdict = verdictOn(expected, meant, suggested);
    verdicts.push({ group, verdict });
    if (verdict !== 'right')
      console.log(`${verdict.padEnd(8)} ${line}\t${answerOf(meant)} ${suggested.join(', ')}`);
  }
  const groups = Map.groupBy(verdicts, ({ group }) => group);
  for (const [name, counted] of [...groups, ['all inputs', verdicts] as const]) {
    const count = (wanted: Verdict) => counted.filter(({ verdict }) => verdict === wanted).length;
    console.log(`right ${count('right')}, nothing ${count('nothing')}, wrong ${count('wrong')}: ${name}`);
  }
}

function verdictOn(expected: string, meant: Meaning | undefined, suggested: readonly string[]): Verdict {
  if (expected.startsWith('!')) {
    const isBad = suggested.some((name) => name.startsWith(expected.slice(1)));
    return meant === undefined && !isBad ? 'right' : 'wrong';
  }
  if (meant === undefined) return expected === '-' || expected.startsWith('?') ? 'right' : 'nothing';
  if (expected === '-') return 'wrong';
  const accepted = expected.replace(/^\?/, '').split('|');
  return accepted.some((each) => isMeant(each, meant)) ? 'right' : 'wrong';
}

/** Whether the answer is the company with the listing, or for `@slug` a record whose name or firm begins with this slug. */
function isMeant(expected: string, { brand }: Meaning): boolean {
  if (expected.startsWith('@'))
    return [brand.name, brand.manager?.firm ?? ''].some((name) => slugOf(name).startsWith(expected.slice(1)));
  const dot = expected.lastIndexOf('.');
  const ticker = dot < 0 ? expected : expected.slice(0, dot);
  const mics =
    dot < 0 ? AMERICAN_VENUES : exchangesOfYahooSuffix(expected.slice(dot + 1)).map(({ mic }) => mic);
  return brand.listings.some((listing) => listing.ticker === ticker && mics.includes(listing.mic));
}

function answerOf(meant: Meaning | undefined): string {
  if (meant === undefined) return '-';
  const { brand, match } = meant;
  const [listing] = brand.listings;
  return `${brand.id} "${brand.name}" ${listing === undefined ? '' : `${listing.mic}:${listing.ticker}`} by ${match.kind} ${match.strength} "${match.value}"`;
}
