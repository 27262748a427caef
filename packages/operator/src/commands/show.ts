import { Command } from 'commander';
import type { Context } from '../context.ts';
import { facts } from '../output.ts';
import { recordFromBrand } from '../records/brand-from-record.ts';

export function showCommand({ connect, output }: Context): Command {
  return new Command('show')
    .description('one record of the catalogue, as its sources make it together')
    .argument('<id>', "the record's id, such as apple")
    .action(async (id: string) => {
      const { brand } = await connect()
        .catalog()
        .call((client) => client.getBrand, { id });
      if (brand === undefined) return;
      const record = recordFromBrand(brand);
      output.answer(record, () => facts(flattened('', record)));
    });
}

/** Dotted names and their values: lists of texts in one line, lists of groups item by item. */
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
