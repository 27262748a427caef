import { BrandType, MatchKind, MatchStrength, type Meaning, type Resolution } from '@brand-data/contracts';
import { readLines } from '@brand-data/importers';
import { inBatches } from '@brand-data/runtime';
import { Command } from '@commander-js/extra-typings';
import { UsageError } from '../../connection/failures.ts';
import type { Context } from '../../terminal/context.ts';
import { table } from '../../text/tables.ts';
import { wordOf } from '../../text/words.ts';

/** The most identifiers that the catalogue resolves at once. */
const BATCH = 200;
const MAX_CHARACTERS = 256;
const HEADERS = ['IDENTIFIER', 'ID', 'NAME', 'KIND', 'STRENGTH', 'VALUE', 'RANK'];

/** An identifier of the input. `problem` says why it cannot be sent. */
interface Query {
  identifier: string;
  problem?: string;
}

export function resolveCommand({ catalog, output, pathOf }: Context) {
  return new Command('resolve')
    .description(
      'Show which record each identifier means, how it matched, and which other records it could mean',
    )
    .argument('[identifier...]', 'tickers, domains, names, ISINs …')
    .option('--file <file>', 'read identifiers from this file, one on each line; the file may be compressed')
    .option('--no-superinvestors', 'ignore portfolio managers, as logo requests do')
    .action(async (identifiers, { file, superinvestors }) => {
      if (identifiers.length === 0 && file === undefined)
        throw new UsageError('there is nothing to resolve: give identifiers, or --file <file>');
      let unreadable = 0;
      const inputs = [queriesOf(identifiers), ...(file === undefined ? [] : [queriesInFile(pathOf(file))])];
      for (const input of inputs) {
        for await (const batch of inBatches(input, { items: BATCH })) {
          const sent = batch.filter(({ problem }) => problem === undefined);
          unreadable += batch.length - sent.length;
          const queries = sent.map(({ identifier }) => ({ identifier, superinvestors, suggest: true }));
          const { resolutions } =
            sent.length === 0
              ? { resolutions: [] }
              : await catalog().call((client) => client.resolve, { queries });
          const answers = new Map(sent.map((query, index) => [query, resolutions[index]]));
          const documents = batch.map((query) => resolutionToJson(query, answers.get(query)));
          output.lines(documents, () => table(HEADERS, documents.flatMap(rowsOf)));
        }
      }
      if (unreadable > 0)
        throw new Error(
          `${unreadable} ${unreadable === 1 ? 'identifier is' : 'identifiers are'} not valid and could not be resolved: correct and try again`,
        );
    });
}

async function* queriesOf(identifiers: readonly string[]): AsyncGenerator<Query> {
  for (const identifier of identifiers) yield queryOf(identifier);
}

async function* queriesInFile(file: string): AsyncGenerator<Query> {
  for await (const line of readLines(file)) {
    if ('problem' in line) yield { identifier: line.raw ?? '', problem: `${line.from}: ${line.problem}` };
    else if (line.text.trim() !== '') yield queryOf(line.text.trim());
  }
}

function queryOf(identifier: string): Query {
  const isValid = identifier.length > 0 && identifier.length <= MAX_CHARACTERS;
  return isValid
    ? { identifier }
    : { identifier, problem: `an identifier must have 1 to ${MAX_CHARACTERS} characters` };
}

function resolutionToJson({ identifier, problem }: Query, resolution: Resolution | undefined) {
  const [meaning = null, ...others] = (resolution?.meanings ?? []).map(meaningToJson);
  const { suggestions = [], noCompany } = resolution ?? {};
  return {
    identifier,
    meaning,
    others,
    ...(suggestions.length > 0 && { suggestions }),
    ...(noCompany && { no_company: noCompany }),
    ...(problem !== undefined && { problem }),
  };
}

function meaningToJson({ id, name, type, rank, match }: Meaning) {
  return {
    id,
    name,
    type: wordOf(BrandType, type),
    rank,
    kind: wordOf(MatchKind, match?.kind),
    strength: wordOf(MatchStrength, match?.strength),
    value: match?.value,
  };
}

function rowsOf(resolution: ReturnType<typeof resolutionToJson>): (string | number | undefined)[][] {
  const { identifier, meaning, others, suggestions = [], no_company: other } = resolution;
  const { problem = other ? `no company: a ${other.kind}, ${other.name}` : 'no record has it' } = resolution;
  if (meaning === null)
    return [
      [identifier, '-', problem],
      ...suggestions.map((suggestion) => [`  perhaps ${suggestion.identifier}`, '', suggestion.name]),
    ];
  return [meaning, ...others].map(({ id, name, kind, strength, value, rank }, index) => {
    return [index === 0 ? identifier : '  or', id, name, kind, strength, value, rank];
  });
}
