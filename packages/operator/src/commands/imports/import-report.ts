import type { ListedSourceRecord } from '@brand-data/contracts';
import { caseToJson, type ImportReport } from '@brand-data/importers';
import type { Text } from '../../terminal/output.ts';
import { differenceText, differenceToJson } from '../../text/difference.ts';
import { duration, figure, inFile, refusedLines, titled, titledKinds } from '../../text/reports.ts';
import { facts } from '../../text/tables.ts';

/** Figures of one source, by group and name. */
export type ImportFigures = Record<string, Record<string, number>>;

export interface TimedReport extends ImportReport {
  seconds: number;
  figures: ImportFigures;
  /** Of a dry run: the records that the import would remove. */
  removals?: Removals | undefined;
}

/** Records of the source that it no longer has. */
export interface Removals {
  count: number;
  /** Those of the best known companies, the best known first. */
  first: ListedSourceRecord[];
}

export function reportToJson(report: TimedReport) {
  const { summary, failure, seconds, figures, journal, removals } = report;
  const { refusals, skips, refusedPictures, rejectsFile, conflicts, refusedLinks, conflictsFile } = journal;
  const { importId, dryRun, source, stopped, unpruned, ...named } = summary;
  const { refusedLinks: refused_links, refusedPictures: refused_pictures, ...counts } = named;
  return {
    import_id: importId,
    source,
    dry_run: dryRun,
    stopped,
    ...(failure !== undefined && { failed: failure.message }),
    ...counts,
    refused_links,
    refused_pictures,
    ...(unpruned !== undefined && { not_pruned: unpruned }),
    ...(removals && { pruned: removals.count, first_pruned: removals.first.map(caseToJson) }),
    difference: differenceToJson(journal.difference),
    seconds: Math.round(seconds * 1_000) / 1_000,
    ...figures,
    ...(rejectsFile !== undefined && { rejects_file: rejectsFile }),
    ...(counts.refused > 0 && { first_refusals: refusals.kinds }),
    ...(counts.skipped > 0 && { first_skipped: skips.kinds }),
    ...(refused_pictures > 0 && { first_refused_pictures: refusedPictures.kinds.map(caseToJson) }),
    ...(conflictsFile !== undefined && {
      conflicts_file: conflictsFile,
      first_conflicts: conflicts.map(caseToJson),
      first_refused_links: refusedLinks.kinds.map(caseToJson),
    }),
  };
}

export function reportText(report: TimedReport): Text {
  const { summary, failure, seconds, figures, journal, removals } = report;
  const { refusals, skips, refusedPictures, rejectsFile, conflicts, refusedLinks, conflictsFile } = journal;
  const { source, dryRun, pruned = removals?.count, unpruned, ...counts } = summary;
  const notPruned = unpruned === undefined ? undefined : `nothing, because ${unpruned}`;
  const lost = counts.conflicts > 0 ? `, ${figure(counts.lost)} lost` : '';
  const rate = seconds >= 1 ? `, ${figure(Math.round(counts.read / seconds))} a second` : '';
  return [
    failure && 'The import failed before its end. This is what it did until then:',
    dryRun ? 'This was a dry run, which changes nothing. A real import would do this:' : undefined,
    facts([
      ['Source', source],
      ['Read', `${figure(counts.read)} in ${duration(seconds)}${rate}`],
      ['Created', figure(counts.created)],
      ['Changed', figure(counts.changed)],
      ['Unchanged', figure(counts.unchanged)],
      ['Refused', `${figure(counts.refused)}${inFile(counts.refused > 0 ? rejectsFile : undefined)}`],
      ['Skipped', counts.skipped > 0 ? `${figure(counts.skipped)}${inFile(rejectsFile)}` : undefined],
      [
        'Pictures',
        counts.pictures + counts.refusedPictures > 0 ? picturesOf(counts, rejectsFile) : undefined,
      ],
      ['Conflicts', `${figure(counts.conflicts)}${lost}${inFile(conflictsFile)}`],
      [
        'Refused links',
        counts.refusedLinks > 0 ? `${figure(counts.refusedLinks)}${inFile(conflictsFile)}` : undefined,
      ],
      ['Pruned', pruned === undefined ? notPruned : figure(pruned)],
    ]),
    differenceText(journal.difference),
    Object.entries(figures).map(([group, named]) => {
      const lines = Object.entries(named).map(([name, count]) => `  ${figure(count).padStart(7)}  ${name}`);
      return lines.length === 0 ? undefined : [sentenceCase(group), lines];
    }),
    titled(
      'Pruned',
      removals?.first.map(
        ({ id, companyId, name, rank }) => `  ${id} of ${companyId} (${name}, rank ${rank})`,
      ) ?? [],
      removals?.count ?? 0,
    ),
    refusedLines(refusals.kinds, counts.refused),
    titledKinds('Skipped', skips.kinds, counts.skipped, ({ reason }) => reason),
    titledKinds(
      'Refused pictures',
      refusedPictures.kinds,
      counts.refusedPictures,
      ({ id, picture, reason }) => `${picture} of ${id}: ${reason}`,
    ),
    titled(
      'Conflicts',
      conflicts.map(({ from, id, identifier, otherId, otherName, lost }) =>
        lost
          ? `  ${from}: ${identifier} leads to ${otherId} (${otherName}), not to the record ${id}`
          : `  ${from}: ${identifier} of the record ${id} also belongs to ${otherId} (${otherName})`,
      ),
      counts.conflicts,
    ),
    titledKinds(
      'Refused links',
      refusedLinks.kinds,
      counts.refusedLinks,
      ({ id, identifiers, otherSource, otherRecordId, otherName, reason }) =>
        `${id} is not ${otherRecordId} of ${otherSource} (${otherName}), though both have ${identifiers.join(', ')}: ${reason}`,
    ),
  ];
}

function picturesOf(
  { pictures, refusedPictures }: Pick<ImportReport['summary'], 'pictures' | 'refusedPictures'>,
  rejectsFile: string | undefined,
): string {
  const refused = `, ${figure(refusedPictures)} refused${inFile(rejectsFile)}`;
  return `${figure(pictures)}${refusedPictures > 0 ? refused : ''}`;
}

/** "missing_rates" becomes "Missing rates". */
function sentenceCase(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
}
