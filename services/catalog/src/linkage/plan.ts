import { mainListingOf } from '../records/merge.ts';
import { noMainListing } from '../records/quotes.ts';
import { type Contribution, referenceOf } from '../records/source-record.ts';
import {
  type CatalogDoc,
  type Company,
  companiesOf,
  contributionsFromDoc,
  hasSameContent,
} from '../storage/catalog-doc.ts';
import { meetings } from './blocking-index.ts';
import { type Link, linkOf, partition } from './clustering.ts';

/** Contributions: far beyond what companies have. */
const MAX_LINKED = 100;
const TOO_LARGE = `its identifiers link it with more than ${MAX_LINKED} others: correct those that are not its own`;
const MAX_KEYS = 1_000;
/** So that the 200 answers of a look-up fit into one message of 16 MiB. */
const MAX_BYTES = 72 * 1024;
const MAX_CONFLICTS = 10;

/** What is to become of contributions. */
export interface Change {
  /** Each once. */
  readonly puts: readonly Contribution[];
  /** Whether a contribution, as it was found, is to be taken back. */
  readonly isRemoved?: (found: Contribution) => boolean;
}

/** A company as it was found. */
export interface Found {
  readonly doc: CatalogDoc;
  readonly contributions: readonly Contribution[];
}

export type PutOutcome = 'created' | 'changed' | 'unchanged' | { refused: string };

/** The company of a put contribution has an identifier that another company has too. */
export interface IdentifierConflict {
  /** The contribution's. */
  readonly reference: string;
  /** "XLON:DKL", "US0378331005", "example.com". */
  readonly identifier: string;
  readonly otherId: string;
  readonly otherName: string;
  /** The identifier leads to the other. */
  readonly lost: boolean;
}

/** What is to happen to one company's document. */
export type Write =
  | { readonly kind: 'insert'; readonly doc: CatalogDoc }
  | { readonly kind: 'delete'; readonly before: CatalogDoc }
  /** `mark`: nothing but the imports that brought the contributions. */
  | { readonly kind: 'replace' | 'mark'; readonly before: CatalogDoc; readonly doc: CatalogDoc };

export interface Plan {
  /** Those of an inner list are made together or not at all. */
  readonly writes: readonly (readonly Write[])[];
  /** By reference. */
  readonly outcomes: ReadonlyMap<string, PutOutcome>;
  /** References of contributions that are taken back. */
  readonly removed: readonly string[];
  readonly conflicts: readonly IdentifierConflict[];
}

/** Companies and new contributions that are linked with one another, and with none of the others. */
export interface Group {
  readonly puts: readonly Contribution[];
  readonly found: readonly Found[];
}

export function foundFromDoc(doc: CatalogDoc): Found {
  return { doc, contributions: contributionsFromDoc(doc) };
}

/** What decides who is joined with whom. */
export interface Joining {
  readonly link?: Link;
  /** Keys that so many share that they join nothing. */
  readonly crowds?: ReadonlySet<string>;
}

/** The groups of what a change touches, as far as they are among `found`. */
export function groupsOf(
  change: Change,
  found: Iterable<Found>,
  { link = linkOf, crowds }: Joining = {},
): Group[] {
  const nodes: Node[] = [...found].map((company) => ({
    found: company,
    puts: [],
    contributions: [...company.contributions],
  }));
  const holders = new Map<string, Node>();
  for (const node of nodes) for (const held of node.contributions) holders.set(referenceOf(held), node);
  for (const put of change.puts) {
    const holder = holders.get(referenceOf(put));
    if (holder === undefined) nodes.push({ found: undefined, puts: [put], contributions: [put] });
    else {
      holder.puts.push(put);
      holder.contributions.push(put);
    }
  }
  const met = meetings<Holding>(crowds);
  if (!nodes.every(isOneSources(change.puts[0]?.source))) {
    for (const node of nodes)
      for (const contribution of node.contributions) met.add(contribution, { node, contribution });
  }
  const seen = new Set<Node>();
  const groups: Group[] = [];
  for (const start of nodes) {
    const isTouched = start.puts.length > 0 || start.contributions.some((held) => change.isRemoved?.(held));
    if (!isTouched || seen.has(start)) continue;
    seen.add(start);
    const members = [start];
    // Grows while it is walked through.
    for (const node of members) {
      for (const contribution of node.contributions) {
        for (const other of met.of(contribution)) {
          if (seen.has(other.node) || !isJoined(contribution, other.contribution, link)) continue;
          seen.add(other.node);
          members.push(other.node);
        }
      }
    }
    groups.push({
      puts: members.flatMap(({ puts }) => puts),
      found: members.flatMap(({ found }) => found ?? []),
    });
  }
  return groups;
}

/** The keys under which there may be more that is linked with a group. */
export function keysOfGroup({ puts, found }: Group): string[] {
  return [...keysOf(puts), ...found.flatMap(({ contributions }) => keysOf(contributions))];
}

function keysOf(contributions: readonly Contribution[]): string[] {
  return contributions.flatMap(({ identity }) => identity.keys);
}

/** What is linked with so much is held together by wrong identifiers, and is not followed any further. */
export function isTooLarge({ puts, found }: Group): boolean {
  return puts.length + found.flatMap(({ contributions }) => contributions).length > MAX_LINKED;
}

/**
 * What is to be written so that the catalogue is what it would be had all contributions been put at once. `found` holds
 * all that is linked with what changes, and what shares identifiers with it. Pure but for revisions.
 */
export function planChange(change: Change, found: ReadonlyMap<string, Found>, joining: Joining = {}): Plan {
  const steps = planning(change, found, joining);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** planChange in steps, between which others may work. */
export function* planning(
  change: Change,
  found: ReadonlyMap<string, Found>,
  joining: Joining,
): Generator<undefined, Plan> {
  const { link = linkOf } = joining;
  const outcomes = new Map<string, PutOutcome>();
  const writes: Write[][] = [];
  const removed: string[] = [];
  const planned = new Map<string, Company>();
  const touched = new Set<string>();
  for (const group of groupsOf(change, found.values(), joining)) {
    yield;
    const refuse = (refused: string) => {
      for (const put of group.puts) outcomes.set(referenceOf(put), { refused });
    };
    // Too many to be divided, too: each would be compared with each.
    if (group.puts.length > 0 && isTooLarge(group)) {
      refuse(TOO_LARGE);
      continue;
    }
    const next = planGroup(group, change, link, outcomes);
    const before = new Map(group.found.map((company) => [company.doc._id, company.doc]));
    const clash = next.find(({ doc: { _id } }) => planned.has(_id) || (found.has(_id) && !before.has(_id)));
    const refusal =
      clash === undefined
        ? problemOfCompanies(next)
        : `the id "${clash.doc._id}" is another record's: choose another`;
    if (refusal !== undefined && group.puts.length > 0) {
      refuse(refusal);
      continue;
    }
    for (const company of next) planned.set(company.doc._id, company);
    for (const id of before.keys()) touched.add(id);
    const ofGroup = writesBetween(before, next);
    if (ofGroup.length > 0) writes.push(ofGroup);
    removed.push(
      ...group.found.flatMap(({ contributions }) =>
        contributions.filter((held) => change.isRemoved?.(held)).map(referenceOf),
      ),
    );
  }
  const others = [...found.values()].filter(({ doc }) => !touched.has(doc._id));
  const conflicts = conflictsOf(change, [...planned.values()], others, joining.crowds);
  return { writes, outcomes, removed, conflicts };
}

/** A document, with what is put in place of its contributions; or a contribution that is in no document. */
interface Node {
  readonly found: Found | undefined;
  readonly puts: Contribution[];
  /** What is, and what will be: both hold it together with others. */
  readonly contributions: Contribution[];
}

/** Contributions of one source are never linked. */
function isOneSources(source: string | undefined): (node: Node) => boolean {
  return ({ contributions }) => contributions.every((held) => held.source === source && !held.isQuote);
}

interface Holding {
  readonly node: Node;
  readonly contribution: Contribution;
}

/** A quote is linked with every company that has its listing. */
function isJoined(one: Contribution, other: Contribution, link: Link): boolean {
  if (one.isQuote !== other.isQuote) return true;
  return one.source !== other.source && link(one, other) > 0;
}

/** The group's companies after the change. Quotes that are of no main listing are refused, and then left out. */
function planGroup(group: Group, change: Change, link: Link, outcomes: Map<string, PutOutcome>): Company[] {
  const replaced = new Set(group.puts.map(referenceOf));
  const before = group.found.flatMap(({ contributions }) => contributions);
  const old = new Map(before.map((held) => [referenceOf(held), held]));
  const puts = group.puts.map((put) => newestMarked(put, old.get(referenceOf(put))));
  const kept = before.filter((held) => !change.isRemoved?.(held) && !replaced.has(referenceOf(held)));
  const [quotes, full] = [true, false].map((isQuote) =>
    [...kept, ...puts].filter((contribution) => contribution.isQuote === isQuote),
  ) as [Contribution[], Contribution[]];
  const companies = companiesOf(partition(full, link), quotes);

  const misplaced = group.puts.filter(
    (put) =>
      put.isQuote &&
      !companies.some(({ doc, brand }) => mainListingOf(brand) === put.id && hasContribution(doc, put)),
  );
  if (misplaced.length > 0) {
    for (const put of misplaced) outcomes.set(referenceOf(put), { refused: noMainListing(put.id) });
    const placed = group.puts.filter((put) => !misplaced.includes(put));
    return planGroup({ ...group, puts: placed }, change, link, outcomes);
  }
  for (const { doc } of companies) {
    const isNew = doc.contributions.every((mark) => !old.has(referenceOf(mark)));
    for (const mark of doc.contributions) {
      const reference = referenceOf(mark);
      if (!replaced.has(reference)) continue;
      const was = old.get(reference);
      const put = group.puts.find((one) => referenceOf(one) === reference);
      const isSame = was !== undefined && put !== undefined && Buffer.compare(was.bytes, put.bytes) === 0;
      outcomes.set(reference, isNew ? 'created' : isSame ? 'unchanged' : 'changed');
    }
  }
  return companies;
}

/** A late batch of an older import, killed or overtaken, does not hide that a newer one has the record too. */
function newestMarked(put: Contribution, held: Contribution | undefined): Contribution {
  return held !== undefined && held.importId > put.importId ? { ...put, importId: held.importId } : put;
}

function hasContribution(doc: CatalogDoc, put: Contribution): boolean {
  return doc.contributions.some(({ source, id }) => source === put.source && id === put.id);
}

function problemOfCompanies(next: readonly Company[]): string | undefined {
  for (const { doc } of next) {
    if (doc.keys.length > MAX_KEYS)
      return `the record has ${doc.keys.length} names, domains and tickers to be found by, with those of its other sources: ${MAX_KEYS} are allowed`;
    if (doc.brand.length > MAX_BYTES)
      return `the record has ${doc.brand.length} bytes, with those of its other sources: ${MAX_BYTES} are allowed`;
  }
  return undefined;
}

function writesBetween(before: ReadonlyMap<string, CatalogDoc>, next: readonly Company[]): Write[] {
  const after = new Set(next.map(({ doc }) => doc._id));
  const gone = [...before.values()].filter(({ _id }) => !after.has(_id));
  return [
    ...gone.map((doc): Write => ({ kind: 'delete', before: doc })),
    ...next.flatMap(({ doc }): Write[] => {
      const old = before.get(doc._id);
      if (old === undefined) return [{ kind: 'insert', doc }];
      if (!hasSameContent(old, doc)) return [{ kind: 'replace', before: old, doc }];
      const isMarked = doc.contributions.some(
        ({ importId }, index) => importId !== old.contributions[index]?.importId,
      );
      return isMarked ? [{ kind: 'mark', before: old, doc }] : [];
    }),
  ];
}

function conflictsOf(
  { puts }: Change,
  planned: readonly Company[],
  others: readonly Found[],
  crowds: ReadonlySet<string> | undefined,
): IdentifierConflict[] {
  const holders = new Map<string, Holder | Holder[]>();
  const hold = (holder: Holder, contributions: readonly Contribution[]) => {
    for (const key of new Set(keysOf(contributions))) {
      if (crowds?.has(key)) continue;
      const sharing = holders.get(key);
      if (sharing === undefined) holders.set(key, holder);
      else if (Array.isArray(sharing)) sharing.push(holder);
      else holders.set(key, [sharing, holder]);
    }
  };
  for (const { doc, brand, members } of planned) hold({ doc, name: brand.name }, members);
  for (const { doc, contributions } of others)
    hold({ doc, name: contributions[0]?.brand.name ?? '' }, contributions);

  for (const sharing of holders.values()) if (Array.isArray(sharing)) sharing.sort(byPrecedence);

  const isPut = new Set(puts.map(referenceOf));
  return planned.flatMap(({ doc, members }) =>
    members
      .filter((member) => isPut.has(referenceOf(member)))
      .flatMap((member) => {
        const conflicts = member.identity.keys.flatMap((key) => {
          const sharing = holders.get(key);
          if (!Array.isArray(sharing) || !isIdentifier(key)) return [];
          const [best, second] = sharing;
          const other = best?.doc === doc ? second : best;
          if (other === undefined) return [];
          return {
            reference: referenceOf(member),
            identifier: identifierOf(key),
            otherId: other.doc._id,
            otherName: other.name,
            lost: other === best,
          };
        });
        return conflicts
          .filter(({ identifier }) => !conflicts.some((other) => isWithin(identifier, other.identifier)))
          .slice(0, MAX_CONFLICTS);
      }),
  );
}

interface Holder {
  readonly doc: CatalogDoc;
  readonly name: string;
}

function byPrecedence(a: Holder, b: Holder): number {
  return b.doc.rank - a.doc.rank || (a.doc._id < b.doc._id ? -1 : 1);
}

/** What a caller may write, and a company may have in common with another by mistake alone. */
function isIdentifier(identityKey: string): boolean {
  return !/^(?:id|qid|named|superinvestor):/.test(identityKey);
}

function identifierOf(key: string): string {
  const [, ticker, mic] = /^ticker:(.*)@(.*)$/.exec(key) ?? [];
  return mic === undefined ? key.slice(key.indexOf(':') + 1) : `${mic}:${ticker}`;
}

/** A CUSIP is told by its ISIN. */
function isWithin(identifier: string, other: string): boolean {
  return identifier.length === 9 && other.length === 12 && other.slice(2, 11) === identifier;
}
