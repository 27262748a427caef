import { RECORD_JSON_SCHEMA } from '@brand-data/records';
import { Command } from 'commander';
import type { Context } from '../../terminal/context.ts';

export function schemaCommand({ output }: Context): Command {
  return new Command('schema')
    .description('Print the JSON Schema of the record format')
    .action(() => output.answer(RECORD_JSON_SCHEMA, () => JSON.stringify(RECORD_JSON_SCHEMA, null, 2)));
}
