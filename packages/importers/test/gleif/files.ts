/** Entities and relationships as GLEIF's files have them, in JSON and in CSV. All are invented. */

interface Named {
  name: string;
  language?: string;
  type: string;
}

export interface MadeUpEntity {
  lei: string;
  name: string;
  otherNames?: readonly Named[];
  transliterated?: readonly Named[];
  line?: string;
  city?: string;
  region?: string;
  country?: string;
  cities?: readonly { city: string; type: string }[];
  category?: string;
  status?: string;
  ended?: string;
  successors?: readonly { lei?: string; name?: string }[];
  registration?: string;
}

export interface MadeUpParent {
  child: string;
  parent: string;
  type?: string;
  status?: string;
}

const value = (text: string | undefined) => (text === undefined ? {} : { $: text });
const namesOf = (list: readonly Named[] = []) =>
  list.map(({ name, language = 'en', type }) => ({ '@xml:lang': language, '@type': type, $: name }));

export function entityInJson(entity: MadeUpEntity): object {
  const { otherNames, transliterated, cities, successors } = entity;
  return {
    LEI: value(entity.lei),
    Entity: {
      LegalName: { '@xml:lang': 'en', ...value(entity.name) },
      ...(otherNames && { OtherEntityNames: { OtherEntityName: namesOf(otherNames) } }),
      ...(transliterated && {
        TransliteratedOtherEntityNames: { TransliteratedOtherEntityName: namesOf(transliterated) },
      }),
      LegalAddress: { City: value('Elsewhere'), Country: value('LU') },
      HeadquartersAddress: {
        ...(entity.line !== undefined && { FirstAddressLine: value(entity.line) }),
        City: value(entity.city ?? 'Kiel'),
        ...(entity.region !== undefined && { Region: value(entity.region) }),
        Country: value(entity.country ?? 'DE'),
      },
      ...(cities && {
        OtherAddresses: {
          OtherAddress: cities.map(({ city, type }) => ({ '@type': type, City: value(city) })),
        },
      }),
      EntityCategory: value(entity.category ?? 'GENERAL'),
      EntityStatus: value(entity.status ?? 'ACTIVE'),
      ...(entity.ended !== undefined && { EntityExpirationDate: value(entity.ended) }),
      ...(successors && {
        SuccessorEntity: successors.map(({ lei, name }) => ({
          ...(lei !== undefined && { SuccessorLEI: value(lei) }),
          ...(name !== undefined && { SuccessorEntityName: value(name) }),
        })),
      }),
    },
    Registration: {
      LastUpdateDate: value('2026-11-02T08:00:00+01:00'),
      RegistrationStatus: value(entity.registration ?? 'ISSUED'),
    },
  };
}

export function entitiesInJson(...entities: readonly MadeUpEntity[]): string {
  return `{"records":[\n${entities.map((entity) => JSON.stringify(entityInJson(entity), undefined, 4)).join(',\n')}]}`;
}

export function entitiesInCsv(...entities: readonly MadeUpEntity[]): string {
  const [otherName, latinName, address] = [
    'Entity.OtherEntityNames.OtherEntityName',
    'Entity.TransliteratedOtherEntityNames.TransliteratedOtherEntityName',
    'Entity.OtherAddresses.OtherAddress',
  ];
  const listOf = (list: string, names: readonly Named[] = []) =>
    numbered(names, (number, each) => ({
      [`${list}.${number}`]: each?.name,
      [`${list}.${number}.xmllang`]: each && (each.language ?? 'en'),
      [`${list}.${number}.type`]: each?.type,
    }));
  const rows = entities.map((entity) => ({
    LEI: entity.lei,
    'Entity.LegalName': entity.name,
    'Entity.LegalName.xmllang': 'en',
    ...listOf(otherName, entity.otherNames),
    ...listOf(latinName, entity.transliterated),
    'Entity.LegalAddress.City': 'Elsewhere',
    'Entity.HeadquartersAddress.FirstAddressLine': entity.line,
    'Entity.HeadquartersAddress.City': entity.city ?? 'Kiel',
    'Entity.HeadquartersAddress.Region': entity.region,
    'Entity.HeadquartersAddress.Country': entity.country ?? 'DE',
    ...numbered(entity.cities ?? [], (number, each) => ({
      [`${address}.${number}.type`]: each?.type,
      [`${address}.${number}.City`]: each?.city,
    })),
    'Entity.EntityCategory': entity.category ?? 'GENERAL',
    'Entity.EntityStatus': entity.status ?? 'ACTIVE',
    'Entity.EntityExpirationDate': entity.ended,
    ...numbered(entity.successors ?? [], (number, each) => ({
      [`Entity.SuccessorEntity.${number}.SuccessorLEI`]: each?.lei,
      [`Entity.SuccessorEntity.${number}.SuccessorEntityName`]: each?.name,
    })),
    'Registration.LastUpdateDate': '2026-11-02T08:00:00+01:00',
    'Registration.RegistrationStatus': entity.registration ?? 'ISSUED',
  }));
  return inCsv(rows);
}

export function parentsInJson(...parents: readonly MadeUpParent[]): string {
  const relations = parents.map(
    ({ child, parent, type = 'IS_DIRECTLY_CONSOLIDATED_BY', status = 'ACTIVE' }) => ({
      RelationshipRecord: {
        Relationship: {
          StartNode: { NodeID: value(child), NodeIDType: value('LEI') },
          EndNode: { NodeID: value(parent), NodeIDType: value('LEI') },
          RelationshipType: value(type),
          RelationshipStatus: value(status),
        },
        Registration: { RegistrationStatus: value('PUBLISHED') },
      },
    }),
  );
  return JSON.stringify({ relations });
}

export function parentsInCsv(...parents: readonly MadeUpParent[]): string {
  const rows = parents.map(({ child, parent, type = 'IS_DIRECTLY_CONSOLIDATED_BY', status = 'ACTIVE' }) => ({
    'Relationship.StartNode.NodeID': child,
    'Relationship.StartNode.NodeIDType': 'LEI',
    'Relationship.EndNode.NodeID': parent,
    'Relationship.EndNode.NodeIDType': 'LEI',
    'Relationship.RelationshipType': type,
    'Relationship.RelationshipStatus': status,
  }));
  return inCsv(rows);
}

/** The CSV files have five columns for each list. */
function numbered<T>(items: readonly T[], cellsOf: (number: number, item: T | undefined) => object): object {
  return Object.assign({}, ...[1, 2, 3, 4, 5].map((number) => cellsOf(number, items[number - 1])));
}

function inCsv(rows: readonly object[]): string {
  const quoted = (text: unknown) => `"${String(text ?? '').replaceAll('"', '""')}"`;
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))];
  return `${lines.map((cells) => cells.map(quoted).join(',')).join('\n')}\n`;
}
