import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { V8_OPTIONS } from '@brand-data/servers';
import { describe, expect, test } from 'vitest';
import { IMAGES, SERVICES } from './programs.ts';
import { dockerfile, manifest, pnpmVersion, ROOT } from './versions.ts';

interface Stage {
  name: string;
  from: string;
  /** Instructions in their order: the word, and what follows it. */
  instructions: { word: string; rest: string }[];
}

const lines = dockerfile
  .replace(/^\s*#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .map((line) => /^(\w+)\s+(.*)$/.exec(line.trim()))
  .flatMap((match) => (match === null ? [] : [{ word: match[1] ?? '', rest: match[2] ?? '' }]));
const stages: Stage[] = [];
for (const { word, rest } of lines) {
  if (word === 'FROM') {
    const [from = '', , name = ''] = rest.split(/\s+/);
    stages.push({ name, from, instructions: [] });
  } else stages.at(-1)?.instructions.push({ word, rest });
}

/** Returns a stage's instructions: first the inherited instructions, then its own. */
function instructionsOf(name: string): Stage['instructions'] {
  const stage = stages.find((each) => each.name === name);
  return stage === undefined ? [] : [...instructionsOf(stage.from), ...stage.instructions];
}
const lastOf = (image: string, word: string) =>
  instructionsOf(image)
    .filter((instruction) => instruction.word === word)
    .at(-1)?.rest;

test('there is an image for each service, and one for the command line', () => {
  const folders = readdirSync(join(ROOT, 'services'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  expect(folders.map(({ name }) => name).sort()).toEqual([...SERVICES].sort());
  const targets = stages.filter(({ instructions }) => instructions.some(({ word }) => word === 'ENTRYPOINT'));
  expect(targets.map(({ name }) => name).sort()).toEqual([...IMAGES].sort());
});

test('everything comes from one official image of Node 24, slim', () => {
  expect(lines.find(({ rest }) => rest.startsWith('NODE_IMAGE='))?.rest).toMatch(
    /^NODE_IMAGE=node:24(\.\d+)*-\w+-slim(@sha256:[0-9a-f]{64})?$/,
  );
  const outside = stages.map(({ from }) => from).filter((from) => !stages.some(({ name }) => name === from));
  expect(new Set(outside)).toEqual(new Set([`\${NODE_IMAGE}`, 'scratch']));
});

test('no step names an architecture', () => {
  const scripts = ['assemble.ts', 'rules.ts', 'sbom.ts', 'take-node.sh', 'build'].map((file) =>
    readFileSync(join(ROOT, 'deploy/images', file), 'utf8'),
  );
  for (const text of [dockerfile, ...scripts]) {
    expect(text).not.toMatch(/amd64|arm64|x86|x64|aarch64|TARGETARCH|TARGETPLATFORM|BUILDPLATFORM|uname/i);
  }
});

test('the tools are those of the workspace, and the version is its own', () => {
  expect(dockerfile.match(/pnpm@[\d.]+/g)).toEqual([`pnpm@${pnpmVersion}`]);
  expect(dockerfile).toContain(`ARG VERSION=${manifest.version}\n`);
});

describe.each(IMAGES)('the image %s', (image) => {
  test('begins empty, is only copied into, and runs as a user without rights', () => {
    const words = new Set(instructionsOf(image).map(({ word }) => word));
    for (const word of ['RUN', 'ADD', 'VOLUME', 'CMD', 'SHELL']) expect(words).not.toContain(word);
    expect(stages.find(({ name }) => name === 'base')?.from).toBe('scratch');
    expect(lastOf(image, 'USER')).toBe('65532:65532');
  });

  test('runs its program itself, which gets the signals and the arguments', () => {
    const entrypoint: unknown = JSON.parse(lastOf(image, 'ENTRYPOINT') ?? '');
    expect(entrypoint).toEqual(image === 'bds' ? ['bds'] : ['node', '/app/src/main.js']);
  });

  test('says what it is, of which version and source, and under which licence', () => {
    const labels = instructionsOf(image)
      .filter(({ word }) => word === 'LABEL')
      .map(({ rest }) => rest)
      .join(' ');
    for (const name of ['version', 'revision', 'source', 'description', 'vendor', 'base\\.name']) {
      expect(labels).toMatch(new RegExp(`org\\.opencontainers\\.image\\.${name}="[^"]+"`));
    }
    expect(labels).toContain(`org.opencontainers.image.title="${image}"`);
    expect(labels).toContain(`org.opencontainers.image.licenses="${manifest.license}"`);
  });

  test('gives Node the options with which all tests and benches run the services', () => {
    const environment = instructionsOf(image).filter(({ word }) => word === 'ENV');
    expect(environment.map(({ rest }) => rest).join(' ')).toContain(` NODE_OPTIONS=${V8_OPTIONS.join(' ')}`);
  });

  test('tells its program the version and the revision that its labels have', () => {
    const instructions = instructionsOf(image);
    const at = instructions.findIndex(
      ({ rest }) => rest === `BUILD_VERSION="\${VERSION}" BUILD_REVISION="\${REVISION}"`,
    );
    expect(instructions[at]?.word).toBe('ENV');
    // A Dockerfile's ARG is empty above the line that declares it.
    const declared = instructions.slice(0, at).filter(({ word }) => word === 'ARG');
    expect(declared.map(({ rest }) => rest.split('=')[0])).toEqual(
      expect.arrayContaining(['NODE_IMAGE', 'VERSION', 'REVISION']),
    );
  });
});
