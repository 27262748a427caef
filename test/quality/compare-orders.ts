import { Brand } from '@brand-data/contracts';
import { type Cluster, clustersOf } from './linkage.ts';
import type { MemoryCatalogue } from './memory-catalogue.ts';

const SHOWN = 20;

/**
 * Prints the first differences between two catalogues of the same data: companies with other source records or another merged
 * record, and inputs with another answer. The ids of companies may differ.
 */
export function compareOrders(one: MemoryCatalogue, other: MemoryCatalogue, inputs: readonly string[]): void {
  const [first, second] = [summaryOf(one), summaryOf(other)];
  const groups = [...first.companies.keys()].filter((members) => !second.companies.has(members));
  const inOther = (members: string) => [
    ...new Set(members.split(' ').map((member) => second.holders.get(member) ?? `no ${member}`)),
  ];
  report(
    'companies with other source records',
    groups.map((members) => `${members}\n  ${inOther(members).join('\n  ')}`),
  );
  const facts = [...first.companies].flatMap(([members, brand]) => {
    const again = second.companies.get(members);
    return again === undefined || again === brand ? [] : [`${members}\n  ${firstDifference(brand, again)}`];
  });
  report('companies with another merged record', facts);
  const answers = inputs.flatMap((input) => {
    const [before, after] = [answerOf(one, first, input), answerOf(other, second, input)];
    return before === after ? [] : [`${input}\n  ${before}\n  ${after}`];
  });
  report('inputs with another answer', answers);
}

interface Summary {
  /** The merged record, as JSON without its id, by the company's source records. */
  readonly companies: ReadonlyMap<string, string>;
  /** A company's source records, by each of them. */
  readonly holders: ReadonlyMap<string, string>;
  /** A company's source records, by its id. */
  readonly byId: ReadonlyMap<string, string>;
}

function summaryOf(catalogue: MemoryCatalogue): Summary {
  const clusters = clustersOf(catalogue).map(({ doc, records }) => ({ doc, members: membersOf(records) }));
  return {
    companies: new Map(
      clusters.map(({ doc, members }) => {
        const brand = Brand.decode(doc.brand);
        return [members, JSON.stringify({ ...brand, id: '' })];
      }),
    ),
    holders: new Map(
      clusters.flatMap(({ members }) => members.split(' ').map((member) => [member, members])),
    ),
    byId: new Map(clusters.map(({ doc, members }) => [doc._id, members])),
  };
}

const membersOf = (records: Cluster['records']) =>
  records
    .map(({ source, id }) => `${source}/${id}`)
    .sort()
    .join(' ');

function answerOf(catalogue: MemoryCatalogue, { byId }: Summary, input: string): string {
  const [meant] = catalogue.resolve(input);
  if (meant === undefined) return '-';
  return `${byId.get(meant.brand.id)} ${JSON.stringify(meant.match)}`;
}

function firstDifference(one: string, other: string): string {
  const at = [...one].findIndex((character, index) => character !== other[index]);
  return [one, other].map((text) => text.slice(Math.max(at - 40, 0), at + 80)).join('\n  ');
}

function report(what: string, differences: readonly string[]): void {
  console.log(`${differences.length} ${what}${differences.length > 0 ? ':' : ''}`);
  for (const difference of differences.slice(0, SHOWN)) console.log(difference);
}
