/**
 * `node deploy/images/check-dependencies.ts` checks the licences of all packages in the images and, if ADVISORIES names a folder
 * with security advisories in the OSV format, the advisories. Exits with 1 if a package may not be used. Needs `pnpm` on the PATH.
 */
import { type Checked, checkAdvisories } from './advisories.ts';
import { licenceProblems } from './licences.ts';
import { IMAGES } from './rules.ts';
import { packageName, sbomOfPackages } from './sbom.ts';

/** Advisories that are older than this do not tell of today's. */
const OLD_AFTER_DAYS = 7;
const DAY_MS = 24 * 60 * 60 * 1000;

const { components } = await sbomOfPackages(Object.values(IMAGES));
const foreign = components.filter(({ group }) => group !== '@brand-data');
const problems = licenceProblems(foreign);

const { ADVISORIES: folder = '' } = process.env;
if (folder === '') {
  warn('ADVISORIES WERE NOT CHECKED: ADVISORIES names no folder with them (deploy/images/README.md)');
} else {
  const packages = foreign.map((each) => ({ name: packageName(each), version: each.version }));
  const checked = checkAdvisories(folder, packages);
  problems.push(...checked.problems);
  report(checked);
}

for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;

function report({ advisories, newest }: Checked): void {
  if (advisories === 0) {
    problems.push(`${folder} has no advisories about npm packages: unpack npm/all.zip of OSV's export there`);
    return;
  }
  process.stdout.write(
    `${foreign.length} packages checked against ${advisories} advisories, the newest of ${newest}\n`,
  );
  if (Date.now() - Date.parse(newest) > OLD_AFTER_DAYS * DAY_MS)
    warn(`NEWER ADVISORIES WERE NOT CHECKED: the newest in ${folder} is of ${newest}`);
  warn(
    "ADVISORIES ABOUT NODE AND DEBIAN'S LIBRARIES WERE NOT CHECKED: scan the images (deploy/images/README.md)",
  );
}

function warn(line: string): void {
  process.stderr.write(`\n*** ${line} ***\n\n`);
}
