import { execFile, execFileSync, spawn } from 'node:child_process';
import { appendFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@brand-data/servers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { cosign, dockerRegistry, helm, runTool } from '../../chart/test/tools.ts';
import { IMAGES } from '../../images/test/programs.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PARTS = ['package.json', 'CHANGELOG.md', 'deploy/chart', 'deploy/images', 'deploy/release'];
const engine = ['podman', 'docker'].find(works);
const missing = [
  ...(engine === undefined ? ['podman or docker'] : []),
  ...(helm.isThere ? [] : ['helm']),
  ...(cosign === undefined ? ['cosign'] : []),
  ...(dockerRegistry === undefined ? ['docker-registry'] : []),
];
if (missing.length > 0)
  process.stderr.write(
    `\nSKIPPED: NO RELEASE WAS MADE: ${missing.join(', ')} not here (deploy/chart/test/get-tools fetches all but podman)\n`,
  );

const run = promisify(execFile);
const { version }: { version: string } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

interface Released {
  code: number;
  output: string;
}

describe.skipIf(missing.length > 0)('a release', () => {
  /** The registry's address with the first part of the images' names. */
  let registry: string;
  let tree: string;
  let keys: string;

  beforeAll(async () => {
    keys = await temporaryFolder();
    await run(cosign ?? '', ['generate-key-pair'], {
      cwd: keys,
      env: { ...process.env, COSIGN_PASSWORD: '' },
    });
  });

  beforeEach(async () => {
    tree = await newTree();
    registry = `${await startRegistry()}/brand-data`;
  });

  async function release(
    args: readonly string[] = [],
    environment: Record<string, string> = {},
  ): Promise<Released> {
    const path = [...(cosign === undefined ? [] : [dirname(cosign)]), process.env.PATH].join(':');
    const env = {
      ...process.env,
      PATH: path,
      ENGINE: engine,
      HELM: helm.path,
      BASE_IMAGE: 'any',
      BUILD: join(import.meta.dirname, 'build-stub'),
      CONTRACTS: join(import.meta.dirname, 'contracts-stub'),
      COSIGN_PASSWORD: '',
      // The machine reaches no public log of signatures.
      COSIGN_KEY: join(keys, 'cosign.key'),
      COSIGN_ARGUMENTS: '--use-signing-config=false --tlog-upload=false',
      ...environment,
    };
    onTestFinished(removeImages);
    try {
      const all = ['--plain-http', ...args, registry];
      const { stdout, stderr } = await run(join(tree, 'deploy/release/release'), all, {
        env,
        timeout: 100_000,
      });
      return { code: 0, output: stdout + stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, output: stdout + stderr };
    }
  }

  /** Podman and docker keep what they push. */
  async function removeImages(): Promise<void> {
    const names = IMAGES.map((image) => `${registry}/${image}:${version}`);
    await run(engine ?? '', ['rmi', '--force', ...names]).catch(() => {});
  }

  /** Returns the names of everything that the registry has. */
  async function repositories(): Promise<string[]> {
    const response = await fetch(`http://${registry.split('/')[0]}/v2/_catalog`);
    const answer: { repositories: string[] } = JSON.parse(await response.text());
    return answer.repositories;
  }

  test('has the six images and a chart that installs them, each signed, and cannot be made again', async () => {
    const released = await release();
    expect(released, released.output).toMatchObject({ code: 0 });
    const names = [...IMAGES, 'charts/brand-data'];
    expect(await repositories()).toEqual(names.map((name) => `brand-data/${name}`).toSorted());
    for (const name of names) {
      const [reference] =
        new RegExp(`${registry}/${name}:${version}@sha256:[0-9a-f]{64}`).exec(released.output) ?? [];
      const verify = [
        'verify',
        '--key',
        join(keys, 'cosign.pub'),
        '--insecure-ignore-tlog',
        '--allow-http-registry',
      ];
      const verified = await runTool(cosign ?? '', [...verify, reference ?? `nothing for ${name}`]);
      expect(verified, verified.stderr).toMatchObject({ isGood: true });
    }
    const values = await runTool(helm.path, [
      'show',
      'values',
      `oci://${registry}/charts/brand-data`,
      '--version',
      version,
      '--plain-http',
    ]);
    expect(parse(values.stdout).image).toMatchObject({ repository: registry, tag: '' });

    expect(await readFile(join(tree, 'contracts'), 'utf8')).toBe('written\n');

    await run('git', ['-C', tree, 'clean', '--force', '--quiet']);
    const again = await release();
    expect(again.output).toContain(`has version ${version}`);
    expect(again.code).toBe(1);
  });

  test('that is only tried changes nothing in the registry', async () => {
    const tried = await release(['--dry-run']);
    expect(tried.output).toContain(`${registry}/charts/brand-data:${version}`);
    expect(tried.code, tried.output).toBe(0);
    expect(await repositories()).toEqual([]);
    await expect(readFile(join(tree, 'contracts'), 'utf8')).rejects.toThrow('ENOENT');
  });

  test('that broke off before its end can be made again', async () => {
    const brokenOff = await release([], { COSIGN_KEY: '/no/such/key' });
    expect(brokenOff.code, brokenOff.output).not.toBe(0);
    expect(await repositories()).toEqual(['brand-data/gateway']);
    const released = await release(['--unsigned']);
    expect(released.output).toContain('THE RELEASE IS NOT SIGNED');
    expect(released.code, released.output).toBe(0);
    expect(await repositories()).toHaveLength(IMAGES.length + 1);
  });

  test.for([
    ['a tree with changes', 'not committed', async () => appendFile(join(tree, 'package.json'), '\n')],
    [
      'a version that the changelog does not describe',
      'CHANGELOG.md has no entry',
      async () => {
        await writeFile(join(tree, 'CHANGELOG.md'), '# Changelog\n');
        await commit(tree);
      },
    ],
    [
      'a chart of another version',
      'the chart has not the version',
      async () => {
        const file = join(tree, 'deploy/chart/Chart.yaml');
        await writeFile(file, (await readFile(file, 'utf8')).replace(/^version: .*/m, 'version: 9.9.9'));
        await commit(tree);
      },
    ],
    [
      'a registry that does not answer',
      'does not say whether it has version',
      async () => {
        registry = `127.0.0.1:${await freePort()}/brand-data`;
      },
    ],
  ] as const)('is not made from %s', async ([, reason, spoil]) => {
    await spoil();
    const refused = await release();
    expect(refused.output).toContain(reason);
    expect(refused.code).toBe(1);
  });

  test('is not made from a base image without a digest, and not without cosign, unless that is asked for', async () => {
    const refused = await release([], { BASE_IMAGE: '' });
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('has no digest') });
    const unsigned = await release([], { PATH: '/usr/local/bin:/usr/bin:/bin' });
    expect(unsigned).toMatchObject({ code: 1, output: expect.stringContaining('cosign is not here') });
    expect(await repositories()).toEqual([]);
  });
});

/** Creates a repository with the parts that a release reads, committed. */
async function newTree(): Promise<string> {
  const folder = await temporaryFolder();
  for (const part of PARTS) await cp(join(ROOT, part), join(folder, part), { recursive: true });
  await run('git', ['init', '--quiet', folder]);
  await commit(folder);
  return folder;
}

async function commit(folder: string): Promise<void> {
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  await run('git', ['-C', folder, 'add', '--all']);
  await run('git', ['-C', folder, ...author, 'commit', '--quiet', '--message', 'test']);
}

/** Starts a registry, and returns its host and port. */
async function startRegistry(): Promise<string> {
  const folder = await temporaryFolder();
  const address = `127.0.0.1:${await freePort()}`;
  const config = {
    version: 0.1,
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') } },
    http: { addr: address },
  };
  await mkdir(join(folder, 'data'));
  await writeFile(join(folder, 'config.yml'), JSON.stringify(config));
  const server = spawn(dockerRegistry ?? '', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' });
  const ended = new Promise((resolve) => server.once('close', resolve));
  onTestFinished(async () => {
    server.kill();
    await ended;
  });
  const answers = async () => (await fetch(`http://${address}/v2/`).catch(() => undefined))?.ok;
  await expect.poll(answers).toBe(true);
  return address;
}

/** Whether this program can build and push images here: the client of docker may be there without its server. */
function works(program: string): boolean {
  try {
    execFileSync(program, ['info'], { stdio: 'ignore', timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
}
