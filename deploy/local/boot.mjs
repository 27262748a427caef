// The way in for every npm script, in plain JavaScript for the oldest Node that a machine may have: installs what is
// missing, then runs the command with the project's own tools, and its own Node, first on the PATH.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PNPM = 'pnpm@12.21.0';
const OLDEST_NODE = 20;
const PROJECT_NODE = 24;
const GENERATED = 'packages/contracts/src/gen';

const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = join(root, 'node_modules');
process.env.PATH = [join(modules, '.bin'), process.env.PATH].join(delimiter);

/** Each takes the arguments after its name and gives the exit status. */
const commands = {
  start: (args) => run(projectNode(), ['deploy/local/src/main.ts', ...args], { endsWithUs: true }),
  test: vitest,
  bench: (args) => vitest(['--config', 'test/bench/vitest.config.ts', ...args]),
  'cluster-test': (args) => vitest(['--config', 'test/cluster/vitest.config.ts', ...args]),
  faults: (args) => run(projectNode(), ['test/faults/main.ts', ...args], { endsWithUs: true }),
  simulate: (args) =>
    run(projectNode(), [join(root, 'test/simulation/main.ts'), ...args], {
      cwd: process.env.INIT_CWD ?? process.cwd(),
    }),
  scale: (args) => run(projectNode(), ['test/simulation/scale/main.ts', ...args]),
  bds: (args) =>
    run(projectNode(), [join(root, 'packages/operator/bds.mjs'), ...args], {
      cwd: process.env.INIT_CWD ?? process.cwd(),
    }),
  types: (args) => run('tsc', args),
  generate: (args) => run('buf', ['generate', ...args]),
  lint,
  drift,
};

const [name = '', ...args] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
if (command === undefined)
  giveUp(`usage: node deploy/local/boot.mjs ${Object.keys(commands).join('|')} [arguments]`);
if (major(process.version) < OLDEST_NODE) {
  giveUp(`Node ${process.version} is too old: install Node ${OLDEST_NODE} or newer (https://nodejs.org).`);
}
if (process.platform !== 'linux' && process.platform !== 'darwin') {
  giveUp(`${process.platform} is not supported: use Linux or macOS (on Windows, run it inside WSL).`);
}
stopWithNpm();
await installIfStale();
process.exitCode = await command(args);

function vitest(args) {
  return run(projectNode(), [toolPath('vitest', 'vitest.mjs'), 'run', ...args]);
}

/** Biome, knip and buf; all of them run, though one fails. */
async function lint() {
  const checks = [
    () => run('biome', ['check', '--error-on-warnings']),
    () => run('knip', []),
    () => run('buf', ['lint']),
    breaking,
  ];
  let status = 0;
  for (const check of checks) status = (await check()) || status;
  return status;
}

/** Compares proto/ with the commit before. */
async function breaking() {
  const before = 'HEAD~1';
  if (spawnSync('git', ['cat-file', '-e', `${before}:proto`], { cwd: root }).status !== 0) {
    process.stderr.write(
      '\n*** BREAKING CHANGES OF proto/ WERE NOT CHECKED: no earlier commit with it is here. ***\n\n',
    );
    return 0;
  }
  return inTemporaryFolder(async (folder) => {
    const archive = join(folder, 'before.tar');
    const made = await run('git', ['archive', '--output', archive, before, 'proto', 'buf.yaml']);
    return made || run('buf', ['breaking', '--against', archive]);
  });
}

/** Fails, and says where, when the generated code is not what proto/ gives. */
function drift() {
  return inTemporaryFolder(async (folder) => {
    const status = await run('buf', ['generate', '--output', folder]);
    if (status !== 0) return status;
    const expected = contents(join(folder, GENERATED));
    const found = contents(join(root, GENERATED));
    const differing = [...new Set([...expected.keys(), ...found.keys()])]
      .sort()
      .map((file) => difference(file, expected.get(file), found.get(file)))
      .filter((line) => line !== undefined);
    if (differing.length === 0) return 0;
    process.stderr.write(`${differing.join('\n')}\nThe generated code is stale: npm run generate\n`);
    return 1;
  });
}

function contents(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

function difference(file, expected, found) {
  if (expected === found) return undefined;
  if (expected === undefined) return `${GENERATED}/${file}: no longer generated`;
  if (found === undefined) return `${GENERATED}/${file}: missing`;
  const is = found.split('\n');
  const line = expected.split('\n').findIndex((text, index) => text !== is[index]);
  const at = line === -1 ? is.length : line;
  return `${GENERATED}/${file}:${at + 1}\n  - ${is[at] ?? ''}\n  + ${expected.split('\n')[at] ?? ''}`;
}

async function inTemporaryFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'brand-data-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a program in this one's place: it gets the signals, its exit status comes back. `endsWithUs`: it notices by the
 * closed channel when this process is gone without notice.
 */
function run(program, programArgs, { cwd = root, endsWithUs = false } = {}) {
  return new Promise((resolve) => {
    const stdio = ['inherit', 'inherit', 'inherit', ...(endsWithUs ? ['ipc'] : [])];
    const child = spawn(program, programArgs, { cwd, stdio });
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    const passOn = (signal) => child.kill(signal);
    for (const signal of signals) process.on(signal, passOn);
    const end = (status) => {
      for (const signal of signals) process.off(signal, passOn);
      resolve(status);
    };
    child.once('error', (error) => {
      process.stderr.write(`${program} did not start: ${error.message}\n`);
      end(1);
    });
    child.once('exit', (code, signal) => end(code ?? 128 + constants.signals[signal]));
  });
}

/** npm that is killed without notice takes this process with it, and so all that it started. */
function stopWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  // Some systems' npm runs its scripts below a shell, which outlives it.
  const isShell = /\((ba|da|k|z)?sh\)/.test(statusOf(parent));
  const parentOf = (pid) => (isShell ? statusOf(pid).split(') ')[1]?.split(' ')[1] : undefined);
  const npm = parentOf(parent);
  setInterval(() => {
    if (process.ppid !== parent || parentOf(parent) !== npm) process.kill(process.pid, 'SIGTERM');
  }, 500).unref();
}

/** "pid (name) state parent …" on Linux; elsewhere empty. */
function statusOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}

/** The Node that the project brings along; where it brings none, the one that runs this. */
function projectNode() {
  const own = join(modules, '.bin', 'node');
  if (existsSync(own) && spawnSync(own, ['--version']).status === 0) return own;
  if (major(process.version) >= PROJECT_NODE) return process.execPath;
  giveUp(
    `Node ${process.version} is too old, and none comes along for ${process.platform} ${process.arch}: ` +
      `install Node ${PROJECT_NODE} or newer (https://nodejs.org).`,
  );
}

function toolPath(tool, file) {
  return join(modules, tool, file);
}

/** Brings node_modules to the lockfile's state, unless a stamp in it says that it is. */
async function installIfStale() {
  const stamp = join(modules, '.installed');
  const wanted = fingerprint();
  const isFresh = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  if (isFresh()) return;
  const release = await installLock();
  try {
    if (isFresh()) return;
    process.stdout.write('installing the packages (pnpm, by npx)\n');
    const startedAt = Date.now();
    const clock = setInterval(() => {
      process.stdout.write(`  still installing (${Math.round((Date.now() - startedAt) / 1_000)} s)\n`);
    }, 10_000);
    const install = ['--yes', PNPM, 'install', '--frozen-lockfile', '--reporter=append-only'];
    const { status, output } = await capture('npx', install);
    clearInterval(clock);
    if (status !== 0) {
      process.stderr.write(output);
      giveUp('the packages could not be installed: see above; with the network back, run the same again.');
    }
    writeFileSync(stamp, wanted);
  } finally {
    release();
  }
}

/** Changes with the lockfile and with every package.json of the workspace. */
function fingerprint() {
  const inFolders = ['packages', 'services'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((entry) => join(folder, entry, 'package.json')),
  );
  const files = [
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    'package.json',
    'deploy/local/package.json',
    'test/package.json',
  ];
  const hash = createHash('sha256');
  for (const file of [...files, ...inFolders.sort()]) {
    const path = join(root, file);
    if (existsSync(path)) hash.update(`${file}\0`).update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}

/** Two commands that are started at once install one after the other. */
async function installLock() {
  mkdirSync(modules, { recursive: true });
  const lock = join(modules, '.installing');
  const deadline = Date.now() + 600_000;
  while (Date.now() < deadline) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return () => rmSync(lock, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') giveUp(`cannot write to ${modules}: ${error.message}`);
    }
    if (!isAlive(lock)) rmSync(lock, { force: true });
    else await delay(200);
  }
  return giveUp(
    `another installation has held ${lock} for 10 minutes: end it, remove the file, run the same again.`,
  );
}

function isAlive(lock) {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Runs a program and keeps its output; it is ended with this process. */
function capture(program, programArgs) {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(program, programArgs, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const end = () => {
      child.kill('SIGTERM');
      rmSync(join(modules, '.installing'), { force: true });
      process.exit(130);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
    const done = (status) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, end);
      resolve({ status, output });
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.once('error', (error) => {
      output += `${program}: ${error.code === 'ENOENT' ? 'not found: install npm' : error.message}\n`;
      done(1);
    });
    child.once('close', (code) => done(code ?? 1));
  });
}

function major(version) {
  return Number(version.replace(/^v/, '').split('.')[0]);
}

function giveUp(line) {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}
