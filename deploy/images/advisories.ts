/** Looks packages up in a folder of security advisories in the OSV format (https://ossf.github.io/osv-schema/). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compare, valid } from 'semver';

interface Event {
  introduced?: string;
  fixed?: string;
  last_affected?: string;
}

export interface Advisory {
  id: string;
  modified: string;
  withdrawn?: string;
  summary?: string;
  affected?: {
    package?: { ecosystem: string; name: string };
    versions?: string[];
    ranges?: { type: string; events: Event[] }[];
  }[];
}

export interface Package {
  name: string;
  version: string;
}

export interface Checked {
  /** How many advisories about npm packages the folder has. */
  advisories: number;
  /** The date of the newest one. */
  newest: string;
  /** One line for each advisory that affects a package. */
  problems: string[];
}

/** OSV writes `0` for the beginning of all versions. */
const LOWEST = '0.0.0-0';

/** Checks packages against all advisories in this folder, such as the unpacked `npm/all.zip` of OSV's export. */
export function checkAdvisories(folder: string, packages: readonly Package[]): Checked {
  const checked: Checked = { advisories: 0, newest: '', problems: [] };
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.json'))) {
    const advisory: Advisory = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    if (!advisory.affected?.some((each) => each.package?.ecosystem === 'npm')) continue;
    checked.advisories += 1;
    if (advisory.modified > checked.newest) checked.newest = advisory.modified;
    checked.problems.push(...problemsOf(advisory, packages));
  }
  checked.problems.sort();
  return checked;
}

/** One line for each of these packages that an advisory affects. */
export function problemsOf(advisory: Advisory, packages: readonly Package[]): string[] {
  if (advisory.withdrawn !== undefined) return [];
  return (advisory.affected ?? []).flatMap(({ package: of, versions = [], ranges = [] }) => {
    if (of?.ecosystem !== 'npm') return [];
    const affected = packages.filter(
      ({ name, version }) =>
        name === of.name &&
        (versions.includes(version) ||
          ranges.some(({ type, events }) => type !== 'GIT' && isIn(version, events))),
    );
    const fixes = ranges.flatMap(({ events }) => events.flatMap(({ fixed }) => fixed ?? []));
    const advice = fixes.length > 0 ? `fixed in ${fixes.join(' and ')}` : 'no version is fixed';
    return affected.map(
      ({ name, version }) =>
        `${name}@${version}: ${advisory.id} (${advisory.summary ?? 'no summary'}): ${advice}`,
    );
  });
}

/** OSV's rule: the last event at or before a version says whether it is affected. */
function isIn(version: string, events: readonly Event[]): boolean {
  const bounds = events
    .flatMap(({ introduced, fixed, last_affected: last }) => [
      ...(introduced === undefined ? [] : [{ at: valid(introduced) ?? LOWEST, kind: 'introduced' }]),
      ...(fixed === undefined ? [] : [{ at: valid(fixed), kind: 'fixed' }]),
      ...(last === undefined ? [] : [{ at: valid(last), kind: 'last' }]),
    ])
    // If an end is not a version, the range stays open: an advisory too many is better than one too few.
    .flatMap(({ at, kind }) => (at === null ? [] : [{ at, kind }]))
    .toSorted((one, other) => compare(one.at, other.at));
  return bounds.reduce((isAffected, { at, kind }) => {
    const order = compare(at, version);
    if (kind === 'introduced') return order <= 0 || isAffected;
    return (kind === 'fixed' ? order > 0 : order >= 0) && isAffected;
  }, false);
}
