import { FieldOutcome, Override } from '@brand-data/contracts';
import { UNKNOWN_OUTCOME } from '@brand-data/importers';
import { JOINED, SEPARATED } from '@brand-data/records';
import { Command } from '@commander-js/extra-typings';
import { PartlyFailed, UsageError } from '../../connection/failures.ts';
import type { Context } from '../../terminal/context.ts';
import { dryRunTitle } from '../../text/reports.ts';
import {
  decidingCommand,
  decisionToJson,
  listOverrides,
  namesAre,
  reasonOf,
  requireAlone,
} from './overrides.ts';

/** A kind of decisions about source records. */
interface Kind {
  verb: 'join' | 'separate';
  /** As catalog stores it. */
  field: string;
  does: string;
  /** What the arguments name, and how many there are. */
  names: string;
  count: number;
}

const JOIN: Kind = {
  verb: 'join',
  field: JOINED,
  does: 'Make two records one company, over every import; the first one keeps its id',
  names: "two names: each is a record's id, or the record of one source, such as wikidata/q312",
  count: 2,
};
const SEPARATE: Kind = {
  verb: 'separate',
  field: SEPARATED,
  does: 'Take the record of one source out of its company, over every import',
  names: 'one name: the record of the source, such as wikidata/q312',
  count: 1,
};

export const DECISION_COMMANDS = [JOIN, SEPARATE].flatMap((kind) => [
  (context: Context) => makingCommand(context, kind),
  (context: Context) => undoingCommand(context, kind),
]);

function makingCommand(context: Context, kind: Kind) {
  const { verb, field, does, names } = kind;
  const options = { why: 'why; needed', list: `list all source records that are ${field}` };
  return decidingCommand(verb, does, options)
    .argument('[name...]', names)
    .action(async (given, { reason, by = '', list, dryRun = false }) => {
      if (list) {
        requireAlone(given.length === 0);
        return listOverrides(context, `No source record is ${field}.`, ({ override, records }) =>
          override.field === field
            ? { records: records.map(({ source, id }) => `${source}/${id}`), ...decisionToJson(override) }
            : undefined,
        );
      }
      const decision = { field, by: by.trim(), reason: reasonOf(reason) };
      await decide(context, kind, { names: given, decision, undo: false, dryRun });
    });
}

function undoingCommand(context: Context, kind: Kind) {
  return new Command(`un${kind.verb}`)
    .description(`Take back what bds ${kind.verb} has decided`)
    .argument('<name...>', kind.names)
    .option('--dry-run', 'write nothing, and report what would change')
    .action((names, { dryRun = false }) =>
      decide(context, kind, { names, decision: { field: kind.field }, undo: true, dryRun }),
    );
}

interface Request {
  names: string[];
  decision: Partial<Override>;
  undo: boolean;
  dryRun: boolean;
}

async function decide({ catalog, output }: Context, kind: Kind, request: Request): Promise<void> {
  const { names, undo, dryRun } = request;
  if (names.length !== kind.count) throw new UsageError(`give ${kind.names}`);
  const decision = Override.fromPartial(request.decision);
  const { result } = await catalog().call((client) => client.decideLinks, { names, decision, undo, dryRun });
  const { outcome = FieldOutcome.UNSPECIFIED, reason = '' } = result ?? {};
  const isChanged = outcome === FieldOutcome.CHANGED;
  if (!isChanged && outcome !== FieldOutcome.UNCHANGED) throw new PartlyFailed(reason || UNKNOWN_OUTCOME);
  output.answer({ names, dry_run: dryRun, changed: isChanged }, () => [
    dryRunTitle(dryRun),
    `${namesAre(names, ' and ')} ${isChanged ? '' : 'already '}${undo ? 'not ' : ''}${kind.field}.`,
  ]);
}
