// Every npm script runs this file first, on any version of Node. It installs the packages of the lockfile. One of them is the
// project's own Node, in node_modules/.bin. npm has put this folder first on the PATH, so the script's next command uses that
// Node. It then builds the pages that the gateway serves, if their sources have changed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const PNPM = 'pnpm@12.21.0';
const OLDEST_NODE = 20;
const PROJECT_NODE = 24;

const root = new URL('../../', import.meta.url);
/** At the end of an installation pnpm writes the installed lockfile to this path. */
const installed = new URL('node_modules/.pnpm/lock.yaml', root);

if (majorOf(process.version) < OLDEST_NODE)
  giveUp(`Node ${process.version} is too old: install Node ${OLDEST_NODE} or newer (https://nodejs.org).`);
if (process.platform !== 'linux' && process.platform !== 'darwin')
  giveUp(`${process.platform} is not supported: use Linux or macOS (on Windows, run it inside WSL).`);
const wanted = readFileSync(new URL('pnpm-lock.yaml', root), 'utf8');
if (!existsSync(installed) || readFileSync(installed, 'utf8') !== wanted) {
  process.stdout.write('installing the packages (pnpm, by npx)\n');
  const install = ['--yes', PNPM, 'install', '--frozen-lockfile', '--reporter=append-only'];
  const { status, error } = spawnSync('npx', install, { cwd: root, stdio: 'inherit' });
  if (error !== undefined) giveUp(`npx did not start (${error.message}): install npm.`);
  if (status !== 0)
    giveUp('the packages could not be installed: see above; with the network back, run the same again.');
}
const { stdout } = spawnSync('node --version', { shell: true, encoding: 'utf8' });
if (!(majorOf(stdout ?? '') >= PROJECT_NODE))
  giveUp(
    `Node ${process.version} is too old, and none comes along for ${process.platform} ${process.arch}: ` +
      `install Node ${PROJECT_NODE} or newer (https://nodejs.org).`,
  );
const build = spawnSync('node', ['packages/site/build.ts', '--if-changed'], { cwd: root, stdio: 'inherit' });
if (build.status !== 0) giveUp('the pages of packages/site could not be built: see above.');

/** @param {string} version */
function majorOf(version) {
  return Number.parseInt(version.replace('v', ''), 10);
}

/** @param {string} line @returns {never} */
function giveUp(line) {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}
