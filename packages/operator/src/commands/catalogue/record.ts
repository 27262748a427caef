import type { GetBrandResponse, RefusedLink } from '@brand-data/contracts';
import {
  nearest,
  OPERATOR,
  RECORD_JSON_SCHEMA,
  recordFromBrand,
  SUPPRESSED,
  statementFor,
} from '@brand-data/records';
import { Command } from '@commander-js/extra-typings';
import { type Context, confirm, YES_OPTION } from '../../terminal/context.ts';
import { table, time } from '../../text/tables.ts';
import { decisionToJson, overrideTable, overrideToJson } from './overrides.ts';

/** A source of a field's value, or of some of its items. */
interface Origin {
  /** The source's name in imports: "sample". "operator" if bds set has set the field. */
  source: string;
  /** The origin that the source itself states, or who has set the field. */
  name?: string;
  url?: string;
  licence?: string;
  date?: string;
}

export function showCommand({ catalog, output }: Context) {
  return new Command('show')
    .description('Show a record and the source of each of its fields')
    .argument('<id>', "the record's id, such as apple")
    .action(async (id) => {
      const answer = await catalog().call((client) => client.getBrand, { id, refusedLinks: true });
      if (answer.brand === undefined) return;
      const record = recordFromBrand(answer.brand);
      const fields = flattened('', record).filter(([path]) => !/^(id$|sources\b|derived_fields$)/.test(path));
      const origins = new Map(fields.map(([path]) => [path, originsOf(withoutIndexes(path), answer)]));
      const set = answer.overrides.filter(({ field }) => field !== SUPPRESSED).map(overrideToJson);
      const [suppressed] = answer.overrides.filter(({ field }) => field === SUPPRESSED).map(decisionToJson);
      const document = {
        record,
        fields: Object.fromEntries([...origins].map(([path, from]) => [withoutIndexes(path), from])),
        ...(suppressed && { suppressed }),
        overrides: set,
        contributions: answer.contributions.map(({ source, importId, brand }) => ({
          source,
          import_id: importId,
          record: brand && recordFromBrand(brand),
        })),
        refused_links: answer.refusedLinks.map((link) => refusedLinkToJson(link, answer)),
      };
      const setByOperator = set.length === 0 ? [] : ['', 'Set with bds set:', overrideTable(set)];
      const refusedLinks = answer.refusedLinks.map(
        ({ otherId, otherName, identifiers, reason }) =>
          `Not ${otherId} (${otherName}), though both have ${identifiers.join(', ')}: ${reason}`,
      );
      output.answer(document, () => [
        suppressed && `Suppressed by ${suppressed.by} at ${suppressed.at}: ${suppressed.reason}`,
        table(
          ['FIELD', 'SOURCE', 'FROM', 'LICENCE', 'DATE', 'VALUE'],
          [
            ['id', '', '', '', '', answer.brand?.id ?? id],
            ...fields.map(([path, value]) => {
              const from = origins.get(path) ?? [];
              const of = (name: keyof Origin) =>
                [...new Set(from.flatMap((each) => each[name] ?? []))].join(', ');
              return [path, of('source'), of('name'), of('licence'), of('date'), value];
            }),
          ],
        ),
        setByOperator,
        refusedLinks,
      ]);
    });
}

/** Returns a link of one of the record's source records with another company, which the catalogue refused. */
function refusedLinkToJson(link: RefusedLink, { contributions }: Pick<GetBrandResponse, 'contributions'>) {
  return {
    source: contributions[link.index]?.source,
    identifiers: link.identifiers,
    other_source: link.otherSource,
    other_record_id: link.otherRecordId,
    other_id: link.otherId,
    other_name: link.otherName,
    reason: link.reason,
  };
}

/** Returns all fields by their dotted names. A list of texts is one field. A list of groups has fields for each item. */
function flattened(path: string, value: unknown): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[path, String(value)]];
  if (Array.isArray(value)) {
    return value.every((item) => typeof item !== 'object')
      ? [[path, value.join('; ')]]
      : value.flatMap((item, index) => flattened(`${path}[${index}]`, item));
  }
  return Object.entries(value).flatMap(([name, field]) =>
    flattened(path === '' ? name : `${path}.${name}`, field),
  );
}

/** Removes indexes from a name, because the sources of a list are the sources of all its items. */
function withoutIndexes(path: string): string {
  return path.replace(/\[\d+\]/g, '');
}

/** A list that was merged from several sources has several origins, the strongest first. */
function originsOf(
  field: string,
  {
    contributions,
    fieldSources,
    overrides,
  }: Pick<GetBrandResponse, 'contributions' | 'fieldSources' | 'overrides'>,
): Origin[] {
  const override = nearest(field, (path) => overrides.find((each) => each.field === path));
  const sources = nearest(field, (path) => fieldSources[path])?.split(', ') ?? [];
  return sources.map((source) => {
    if (source === OPERATOR && override !== undefined)
      return { source, name: override.by, date: time(override.atMs)?.slice(0, 10) ?? '' };
    const stated = contributions.find((contribution) => contribution.source === source)?.brand?.sources ?? [];
    const { name, url, licence, date } = statementFor(field, stated) ?? {};
    return {
      source,
      ...(name && { name }),
      ...(url && { url }),
      ...(licence && { licence }),
      ...(date && { date }),
    };
  });
}

export function deleteCommand(context: Context) {
  const { catalog, output } = context;
  return new Command('delete')
    .description('Delete a record together with all its source records and all that bds set has set')
    .argument('<id>', "the record's id, such as apple")
    .addHelpText(
      'after',
      '\nIf a source still has the record, the next import of that source creates it again.',
    )
    .option(...YES_OPTION)
    .action(async (id, { yes }) => {
      await confirm(context, `Deleting ${id} cannot be undone`, yes);
      const { contributions, overrides } = await catalog().call((client) => client.deleteBrand, { id });
      output.answer({ id, contributions, ...(overrides > 0 && { overrides }) }, () => {
        const set = overrides === 0 ? '' : `, and what bds set had set: ${counted(overrides, 'field')}`;
        return `${id} is deleted: ${counted(contributions, 'source record')}${set}.`;
      });
    });
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

export function schemaCommand({ output }: Context) {
  return new Command('schema')
    .description('Print the JSON Schema of the record format')
    .action(() => output.answer(RECORD_JSON_SCHEMA, () => JSON.stringify(RECORD_JSON_SCHEMA, null, 2)));
}
