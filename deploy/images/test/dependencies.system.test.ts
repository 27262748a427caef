import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { expect, onTestFinished, test } from 'vitest';
import { type Advisory, problemsOf } from '../advisories.ts';
import { licenceProblems } from '../licences.ts';
import { type Component, packageUrl, type Sbom, sbomOfImage } from '../sbom.ts';
import { pnpmVersion, ROOT } from './versions.ts';

const run = promisify(execFile);

function component(name: string, version: string, licence?: string): Component {
  const purl = packageUrl(name, version);
  const group = name.startsWith('@') ? { group: name.split('/')[0] ?? '' } : {};
  const licenses = licence === undefined ? {} : { licenses: [{ expression: licence }] };
  return {
    type: 'library',
    ...group,
    name: name.split('/').at(-1) ?? '',
    version,
    purl,
    'bom-ref': purl,
    ...licenses,
  };
}

test.each([
  ['MIT', 'some'],
  ['(Apache-2.0 AND BSD-3-Clause)', 'some'],
  ['(GPL-3.0-only OR MIT)', 'some'],
  ['LGPL-3.0-or-later', '@img/sharp-libvips-linux-x64'],
])('the licence %s of %s is allowed', (licence, name) => {
  expect(licenceProblems([component(name, '1.0.0', licence)])).toEqual([]);
});

test.each([
  ['GPL-3.0-only', 'some'],
  ['(GPL-3.0-only AND MIT)', 'some'],
  ['LGPL-3.0-or-later', 'some'],
  ['SEE LICENSE IN LICENSE', '@scope/some'],
  ['UNLICENSED', 'some'],
  [undefined, 'some'],
])('the licence %s of %s is refused, with the name of the package and what to do', (licence, name) => {
  const [line = '', ...more] = licenceProblems([component(name, '1.2.3', licence)]);
  expect(line).toContain(`${name}@1.2.3 `);
  expect(line).toContain(licence ?? 'names no licence');
  expect(line).toContain('add it to deploy/images/licences.ts or use another package');
  expect(more).toEqual([]);
});

const ranges = (...events: Record<string, string>[]) => [{ type: 'SEMVER', events }];
function advisory(
  affected: Partial<NonNullable<Advisory['affected']>[number]>,
  more: Partial<Advisory> = {},
): Advisory {
  const of = { ecosystem: 'npm', name: 'some' };
  return {
    id: 'GHSA-1',
    modified: '2026-11-01T00:00:00Z',
    affected: [{ package: of, ...affected }],
    ...more,
  };
}

test.each<[string, Advisory, boolean]>([
  ['before its fix', advisory({ ranges: ranges({ introduced: '0' }, { fixed: '1.2.4' }) }), true],
  ['with its fix', advisory({ ranges: ranges({ introduced: '0' }, { fixed: '1.2.3' }) }), false],
  ['in the version that introduced it', advisory({ ranges: ranges({ introduced: '1.2.3' }) }), true],
  ['before it was introduced', advisory({ ranges: ranges({ introduced: '1.2.4' }) }), false],
  [
    'in the last version that has it',
    advisory({ ranges: ranges({ introduced: '1.0.0' }, { last_affected: '1.2.3' }) }),
    true,
  ],
  [
    'after the last version that has it',
    advisory({ ranges: ranges({ introduced: '1.0.0' }, { last_affected: '1.2.2' }) }),
    false,
  ],
  [
    'in the second of two ranges, in any order of the events',
    advisory({
      ranges: ranges({ fixed: '1.3.0' }, { introduced: '1.2.0' }, { fixed: '1.1.0' }, { introduced: '0' }),
    }),
    true,
  ],
  [
    'between two ranges',
    advisory({
      ranges: ranges({ introduced: '0' }, { fixed: '1.1.0' }, { introduced: '1.3.0' }, { fixed: '1.4.0' }),
    }),
    false,
  ],
  ['in a listed version', advisory({ versions: ['1.2.3'] }), true],
  [
    'in a release after a pre-release that fixed it',
    advisory({ ranges: ranges({ introduced: '0' }, { fixed: '1.2.3-rc.1' }) }),
    false,
  ],
  [
    'of another package',
    advisory({ package: { ecosystem: 'npm', name: 'other' }, versions: ['1.2.3'] }),
    false,
  ],
  [
    'of another ecosystem',
    advisory({ package: { ecosystem: 'PyPI', name: 'some' }, versions: ['1.2.3'] }),
    false,
  ],
  ['that was withdrawn', advisory({ versions: ['1.2.3'] }, { withdrawn: '2026-11-02T00:00:00Z' }), false],
  ['of commits in git', advisory({ ranges: [{ type: 'GIT', events: [{ introduced: '0' }] }] }), false],
  [
    'with an end that is no version',
    advisory({ ranges: ranges({ introduced: '0' }, { fixed: 'next' }) }),
    true,
  ],
])('of version 1.2.3, an advisory %s: %o affects it: %s', (_, about, affects) => {
  const lines = problemsOf(about, [{ name: 'some', version: '1.2.3' }]);
  expect(lines).toEqual(affects ? [expect.stringContaining('some@1.2.3: GHSA-1')] : []);
});

/** Each of the checks starts npx and pnpm. */
const CHECKED_WITHIN_MS = 120_000;

/** Runs the check as lint does. */
async function check(environment: Record<string, string>) {
  const command = [process.execPath, join(ROOT, 'deploy/images/check-dependencies.ts')];
  const { ADVISORIES: _, ...rest } = process.env;
  const options = { cwd: ROOT, env: { ...rest, ...environment } };
  return run(
    'npx',
    ['--yes', '--prefer-offline', '--package', `pnpm@${pnpmVersion}`, '--', ...command],
    options,
  ).then(
    ({ stdout, stderr }) => ({ status: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ status: Number(code), output: `${stdout}${stderr}` }),
  );
}

async function folderWith(...advisories: Advisory[]): Promise<string> {
  const folder = await temporaryFolder();
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [at, each] of advisories.entries())
    await writeFile(join(folder, `${at}.json`), JSON.stringify(each));
  return folder;
}

test(
  'without a folder of advisories, lint says loudly that they were not checked, and all licences are allowed',
  async () => {
    expect(await check({})).toEqual({
      status: 0,
      output: expect.stringContaining('*** ADVISORIES WERE NOT CHECKED'),
    });
  },
  CHECKED_WITHIN_MS,
);

test(
  'lint fails for an advisory that affects a package of an image, and for a folder without advisories',
  async () => {
    const of = { ecosystem: 'npm', name: 'fastify' };
    const affected = [{ package: of, ranges: ranges({ introduced: '0' }, { fixed: '999.0.0' }) }];
    const found = await check({
      ADVISORIES: await folderWith(advisory({ versions: ['0.0.1'] }), advisory({}, { affected })),
    });
    expect(found.status).toBe(1);
    expect(found.output).toMatch(/^fastify@[\d.]+: GHSA-1 \(no summary\): fixed in 999\.0\.0$/m);
    expect(found.output).toContain('packages checked against 2 advisories, the newest of 2026-11-01');
    expect(found.output).toContain("NODE AND DEBIAN'S LIBRARIES WERE NOT CHECKED");
    const empty = await check({ ADVISORIES: await folderWith() });
    expect(empty).toEqual({
      status: 1,
      output: expect.stringContaining('has no advisories about npm packages'),
    });
  },
  CHECKED_WITHIN_MS,
);

const LIBC =
  'Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:2.36-9+deb12u10\n';
const sbom = (components: Component[], time: string): Sbom => ({
  specVersion: '1.7',
  serialNumber: `urn:uuid:${time}`,
  metadata: { timestamp: time, component: component('@brand-data/gateway', '0.1.0') },
  components,
  dependencies: [
    {
      ref: packageUrl('one', '1.0.0'),
      dependsOn: [packageUrl('@types/one', '1.0.0'), packageUrl('two', '2.0.0')],
    },
    { ref: packageUrl('@brand-data/gateway', '0.1.0'), dependsOn: [packageUrl('one', '1.0.0')] },
  ],
});
const held = {
  packages: new Set([packageUrl('one', '1.0.0'), packageUrl('two', '2.0.0')]),
  node: '24.1.0',
  libraries: [LIBC],
  system: 'VERSION_ID="12"\n',
};

test('an SBOM names what is in the image: its packages, Node and the libraries of Node, and nothing else', () => {
  const all = [component('two', '2.0.0'), component('@types/one', '1.0.0'), component('one', '1.0.0')];
  const made = sbomOfImage(sbom(all, 'now'), held);
  expect(made.components.map(({ purl }) => purl)).toEqual([
    'pkg:deb/debian/libc6@1%3A2.36-9%2Bdeb12u10?arch=amd64&distro=debian-12',
    'pkg:generic/node@24.1.0',
    'pkg:npm/one@1.0.0',
    'pkg:npm/two@2.0.0',
  ]);
  expect(made.dependencies).toEqual([
    {
      ref: 'pkg:npm/%40brand-data/gateway@0.1.0',
      dependsOn: [made.components[0]?.purl, 'pkg:generic/node@24.1.0', 'pkg:npm/one@1.0.0'],
    },
    { ref: 'pkg:npm/one@1.0.0', dependsOn: ['pkg:npm/two@2.0.0'] },
  ]);
});

test('an SBOM is the same whenever and in whatever order it is made, and another for another content', () => {
  const [one, two] = [component('one', '1.0.0'), component('two', '2.0.0')];
  const made = JSON.stringify(sbomOfImage(sbom([one, two], 'now'), held));
  expect(JSON.stringify(sbomOfImage(sbom([two, one], 'later'), held))).toBe(made);
  const other = sbomOfImage(sbom([one, two], 'now'), { ...held, node: '24.1.1' });
  expect(other.serialNumber).not.toBe(JSON.parse(made).serialNumber);
});

test('no SBOM is made if pnpm does not list a package that the image holds', () => {
  expect(() => sbomOfImage(sbom([component('one', '1.0.0')], 'now'), held)).toThrow('pkg:npm/two@2.0.0');
});

test('a base image without a digest is refused for a release, and warned of otherwise', async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const called = join(folder, 'called');
  await mkdir(called);
  const program = join(folder, 'build-with');
  await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$@" >>'${called}/arguments'\n`, { mode: 0o755 });
  const build = (environment: Record<string, string>) => {
    const { NODE_IMAGE: _, BASE_IMAGE: __, ...rest } = process.env;
    const env = { ...rest, BUILD: program, ...environment };
    return run(join(ROOT, 'deploy/images/build'), ['some', 'test', folder], { env });
  };
  for (const refused of ['node:24-bookworm-slim', 'node:24@sha256:abc'])
    await expect(build({ NODE_IMAGE: refused, BASE_IMAGE: 'digest' })).rejects.toThrow(
      `${refused} has no digest`,
    );
  const digest = `node:24-bookworm-slim@sha256:${'0'.repeat(64)}`;
  expect((await build({ NODE_IMAGE: digest, BASE_IMAGE: 'digest' })).stderr).toBe('');
  expect(await readFile(join(called, 'arguments'), 'utf8')).toContain(`NODE_IMAGE=${digest}\n`);
  expect((await build({ NODE_IMAGE: 'node:24' })).stderr).toContain('THE BASE IMAGE node:24 HAS NO DIGEST');
});
