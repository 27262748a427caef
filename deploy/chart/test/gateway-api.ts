import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { parse } from 'yaml';
import { gatewayApi } from './tools.ts';

interface Definition {
  spec: {
    group: string;
    names: { kind: string };
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
}

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
}

/** Writes the JSON Schemas of the Gateway API's kinds into a folder, and returns their address for kubeconform. */
export async function gatewaySchemas(): Promise<string> {
  const folder = await temporaryFolder();
  for (const file of gatewayApi) {
    const { spec }: Definition = parse(await readFile(file, 'utf8'));
    for (const { name, schema } of spec.versions) {
      const path = `${spec.names.kind}-${spec.group.split('.')[0]}-${name}.json`.toLowerCase();
      await writeFile(join(folder, path), JSON.stringify(closed(schema.openAPIV3Schema)));
    }
  }
  return join(folder, '{{.ResourceKind}}{{.KindSuffix}}.json');
}

/** Returns the schema without room for unknown fields, which a cluster would drop. */
function closed(schema: Schema): Schema {
  const { properties, items, additionalProperties } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, inner]) => [name, closed(inner)]),
      ),
      additionalProperties: additionalProperties ?? false,
    }),
    ...(items && { items: closed(items) }),
  };
}
