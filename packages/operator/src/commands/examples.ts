import type { Command } from 'commander';

/** A placeholder for the id of a key. The accounts service chooses the real id. */
export const EXAMPLE_KEY = 'key-4f1c0a9be27d';

/**
 * The example that each command's help shows, by the command's words. A test runs all examples in this order, so each may rely on
 * what the earlier ones have created.
 */
export const EXAMPLES: ReadonlyMap<string, string> = new Map([
  ['doctor', 'doctor'],
  ['status', 'status'],
  ['plan set', 'plan set team --pool calls=50000:brands,logos --rate 50:100'],
  ['plan list', 'plan list'],
  ['account create', 'account create --id acme --name "Acme Inc." --plan team'],
  ['account list', 'account list --plan team --search acme'],
  ['account show', 'account show acme'],
  ['account rename', 'account rename acme "Acme Works"'],
  ['account set-plan', 'account set-plan acme team'],
  ['account repair-limits', 'account repair-limits acme'],
  ['key create', 'key create acme --label website --origin https://www.acme.com'],
  ['key list', 'key list acme'],
  ['key edit', `key edit ${EXAMPLE_KEY} --label shop --origin https://shop.acme.com`],
  ['key rotate', `key rotate ${EXAMPLE_KEY} --overlap 24h --yes`],
  ['key revoke', `key revoke ${EXAMPLE_KEY} --yes`],
  ['usage', 'usage --all --csv'],
  ['usage-page', 'usage-page --port 8190'],
  ['notice list', 'notice list --state failed'],
  ['notice redeliver', 'notice redeliver --all-failed'],
  ['notice test', 'notice test'],
  ['account close', 'account close acme'],
  ['account reopen', 'account reopen acme'],
  ['operator create', 'operator create ana --role keys'],
  ['operator list', 'operator list'],
  ['operator revoke', 'operator revoke ana --yes'],
  ['import records', 'import records companies.ndjson --source mine'],
  ['import csv', 'import csv companies.csv --source crm --map company=name,site=links.websites'],
  ['import simple-icons', 'import simple-icons --dry-run'],
  ['import market-data', 'import market-data closes.csv --date 2026-08-21'],
  ['import financedatabase', 'import financedatabase FinanceDatabase/ --dry-run'],
  ['import wikidata', 'import wikidata latest-all.json.gz'],
  ['catalogue list', 'catalogue list --type stock --lacks images.logo'],
  ['catalogue stats', 'catalogue stats'],
  ['resolve', 'resolve ACME acme.com "Acme Works"'],
  ['show', 'show acme'],
  ['set', 'set acme company.ceo="Ada Lovelace" --reason "Annual report of 2026"'],
  ['unset', 'unset acme company.ceo'],
  ['logo set', 'logo set acme acme.svg'],
  ['logo unset', 'logo unset acme'],
  ['logo import-folder', 'logo import-folder logos/ --dry-run'],
  ['logo sweep', 'logo sweep'],
  ['catalogue export', 'catalogue export --out catalogue.ndjson'],
  ['catalogue restore', 'catalogue restore catalogue.ndjson --dry-run'],
  ['delete', 'delete acme --yes'],
  ['audit', 'audit --about acme --since 2026-11-01'],
  ['schema', 'schema'],
  ['completion', 'completion bash'],
  ['backup', 'backup --out copy-of-2026-11-23'],
  ['restore', 'restore --from copy-of-2026-11-23 --replace --yes'],
]);

/** Returns the words of a command, such as "account create". '' for the program itself. */
export function pathOfCommand(command: Command): string {
  const { parent } = command;
  return parent === null ? '' : `${pathOfCommand(parent)} ${command.name()}`.trim();
}
