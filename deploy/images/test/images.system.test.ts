import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  expectCommandLine,
  expectToLive,
  expectToRefuseNothing,
  IMAGES,
  type Launch,
  SERVICES,
  start,
} from './programs.ts';
import { manifest, ROOT } from './versions.ts';

const { IMAGE_RUN = '' } = process.env;
if (IMAGE_RUN === '')
  process.stderr.write(
    '\nSKIPPED: THE IMAGES WERE NOT BUILT AND NOT RUN: IMAGE_RUN names no command to run one with, such as\n' +
      '"docker run --rm --network host" (deploy/images/README.md)\n',
  );

const run = promisify(execFile);
const REPOSITORY = 'brand-data-test';
const MOST_BYTES = 100 * 1000 ** 2;
const BUILD_WITHIN_MS = 30 * 60_000;

/** Runs an image with the rights that a pod of Kubernetes' restricted profile has. */
const launch: Launch = (image, args, environment) => {
  const [program = '', ...runArgs] = IMAGE_RUN.split(/\s+/);
  const bounds = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges'];
  const settings = Object.entries(environment).map(([name, value]) => `--env=${name}=${value}`);
  return {
    program,
    args: [...runArgs, ...bounds, ...settings, `${REPOSITORY}/${image}:test`, ...args],
    environment: process.env,
  };
};

describe.skipIf(IMAGE_RUN === '')('the images that are built', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    await build(folder);
    return () => rm(folder, { recursive: true, force: true });
  }, BUILD_WITHIN_MS);

  describe.each(IMAGES)('%s', (image) => {
    test('is less than 100 MB, compressed', async () => {
      const { layers } = await unpack(folder, image);
      const sizes = await Promise.all(layers.map(compressedBytes));
      console.log(`${image}: ${sizes.map((bytes) => (bytes / 1e6).toFixed(1)).join(' + ')} MB`);
      expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(MOST_BYTES);
    });

    test('says what it is, and runs as a user without rights', async () => {
      const { config } = await unpack(folder, image);
      expect(config.User).toBe('65532:65532');
      expect(config.Labels).toMatchObject({
        'org.opencontainers.image.title': image,
        'org.opencontainers.image.version': manifest.version,
        'org.opencontainers.image.licenses': manifest.license,
        'org.opencontainers.image.revision': expect.stringMatching(/^([0-9a-f]{40}(-dirty)?|unknown)$/),
        'org.opencontainers.image.source': expect.stringMatching(/./),
        'org.opencontainers.image.base.name': expect.stringMatching(/node:24/),
      });
      expect(config.Env).toEqual(
        expect.arrayContaining([
          `BUILD_VERSION=${manifest.version}`,
          `BUILD_REVISION=${config.Labels?.['org.opencontainers.image.revision']}`,
        ]),
      );
    });

    test('has Node and no other program, and nothing that its user may write to but /tmp', async () => {
      const { layers } = await unpack(folder, image);
      const lists = await Promise.all(layers.map((layer) => run('tar', ['-tvf', layer], { maxBuffer: 1e8 })));
      const entries = lists
        .flatMap(({ stdout }) => stdout.trimEnd().split('\n'))
        .map((line) => ({ mode: line.slice(0, 10), path: `/${line.split(/\s+/).slice(5).join(' ')}` }));
      const isLibrary = (path: string) => /\/(ld-linux|lib)[^/]*\.so\.\d+$/.test(path);
      const programs = entries.filter(({ mode, path }) => /^-.*[xs]/.test(mode) && !isLibrary(path));
      const expected = ['/usr/local/bin/node', ...(image === 'bds' ? ['/usr/local/bin/bds'] : [])];
      expect(programs.map(({ path }) => path)).toEqual(expected);
      const writable = entries.filter(({ mode }) => /^[^l].{7}w/.test(mode) || /^.{5}w/.test(mode));
      expect(writable.map(({ path }) => path)).toEqual(['/tmp/']);
    });
  });

  describe.each(SERVICES)('%s, with a root that cannot be written to', (service) => {
    test('refuses to run without its settings, and names them all', () =>
      expectToRefuseNothing(launch, service));

    test('is alive before anything that it needs is there, not ready, and stops when told to', () =>
      expectToLive(launch, service));
  });

  test('bds runs, with a root that cannot be written to, by its name too, and has the sample catalogue', async () => {
    await expectCommandLine(launch);
    const script = `
      const { spawnSync } = require('node:child_process');
      const records = require('node:fs').readdirSync('/sample/catalogue').length;
      console.log('records:', records, 'status:', spawnSync('bds', ['--help']).status, 'user:', process.getuid());
    `;
    const inside: Launch = (image, _args, environment) => {
      const { program, args } = launch(image, ['-e', script], environment);
      return {
        program,
        args: args.toSpliced(args.length - 3, 0, '--entrypoint=node'),
        environment: process.env,
      };
    };
    const { output } = await start(inside, 'bds', [], {}).ended;
    expect(output).toMatch(/records: [1-9]\d* status: 0 user: 65532/);
  });

  test(
    'built once more, from nothing, has the same layers',
    async () => {
      const again = join(folder, 'again');
      await mkdir(again);
      await build(again, '--no-cache');
      for (const image of IMAGES) {
        expect((await unpack(again, image)).diffIds, image).toEqual((await unpack(folder, image)).diffIds);
      }
    },
    BUILD_WITHIN_MS,
  );
});

async function build(folder: string, ...args: string[]): Promise<void> {
  await run(join(ROOT, 'deploy/images/build'), [REPOSITORY, 'test', folder, ...args], { maxBuffer: 1e8 });
}

interface Config {
  User?: string;
  /** Each `NAME=value`. */
  Env?: string[];
  Labels?: Record<string, string>;
}

/** Returns an image's configuration, and its layers' files. */
async function unpack(folder: string, image: string) {
  const target = join(folder, image);
  await mkdir(target, { recursive: true });
  await run('tar', ['-xf', join(folder, `${image}.tar`), '-C', target]);
  const read = async (path: string) => JSON.parse(await readFile(join(target, path), 'utf8'));
  const [{ Config: path, Layers: layers }]: [{ Config: string; Layers: string[] }] =
    await read('manifest.json');
  const { config, rootfs }: { config: Config; rootfs: { diff_ids: string[] } } = await read(path);
  return { config, diffIds: rootfs.diff_ids, layers: layers.map((layer) => join(target, layer)) };
}

async function compressedBytes(layer: string): Promise<number> {
  let bytes = 0;
  await pipeline(createReadStream(layer), createGzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) bytes += chunk.length;
  });
  return bytes;
}
