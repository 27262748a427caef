import { readFile } from 'node:fs/promises';
import { exchangesOfYahooSuffix } from '@brand-data/identifiers';
import { slugOf } from '@brand-data/records';
import type { MemoryCatalogue } from './memory-catalogue.ts';

type Meaning = ReturnType<MemoryCatalogue['resolve']>[number];
type Verdict = 'right' | 'nothing' | 'wrong';

const AMERICAN_VENUES = ['XNAS', 'XNYS', 'XASE', 'ARCX', 'BATS', 'OTCM'];

/** Prints each input whose answer is wrong or missing, with what came back, and counts the verdicts for each class of inputs. */
export async function scoreInputs(catalogue: MemoryCatalogue, file: string): Promise<void> {
  const counts = new Map<string, Record<Verdict, number>>();
  const totals = { right: 0, nothing: 0, wrong: 0 };
  let counted = totals;
  for (const line of (await readFile(file, 'utf8')).split('\n')) {
    if (line.startsWith('## ')) {
      counted = { right: 0, nothing: 0, wrong: 0 };
      counts.set(line.slice(3), counted);
      continue;
    }
    const at = line.lastIndexOf(' = ');
    if (at < 0) continue;
    const [input, expected] = [line.slice(0, at), line.slice(at + 3)];
    const [meant] = catalogue.resolve(input);
    const suggested = meant === undefined ? (await catalogue.suggest(input)).map(({ name }) => name) : [];
    const verdict = verdictOn(expected, meant, suggested);
    counted[verdict] += 1;
    totals[verdict] += 1;
    if (verdict !== 'right')
      console.log(`${verdict.padEnd(8)} ${line}\t${answerOf(meant)} ${suggested.join(', ')}`);
  }
  for (const [name, { right, nothing, wrong }] of [...counts, ['all inputs', totals] as const])
    console.log(`right ${right}, nothing ${nothing}, wrong ${wrong}: ${name}`);
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
