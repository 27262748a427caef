import { expect, test } from 'vitest';
import { compiledManifest, isNeeded } from '../rules.ts';

test('of the packages of others stays what Node can load, and their licences', () => {
  const needed = [
    'fastify/fastify.js',
    'fastify/package.json',
    'fastify/LICENSE',
    'bson/lib/bson.mjs',
    'csv-parse/dist/cjs/index.cjs',
    'grpc-health-check/proto/health/v1/health.proto',
    '@scope/name/licence.md',
    'yaml/dist/doc/Document.js',
    'one/node_modules/@scope/two/lib/index.js',
    'test/index.js',
    '@img/sharp-some-system/lib/sharp.node',
    '@img/sharp-libvips-some-system/lib/libvips-cpp.so.8.18.7',
    '@img/sharp-libvips-some-system/README.md',
    'dejavu-fonts-ttf/ttf/DejaVuSans.ttf',
  ];
  const unneeded = [
    '.modules.yaml',
    '.bin/pino',
    '@types/node/package.json',
    'fastify/fastify.d.ts',
    'mongodb/src/index.ts',
    'bson/lib/bson.mjs.map',
    'fastify/test/index.js',
    'pino/test/fixtures/node_modules/some/index.js',
    'grpc-health-check/build/test/test_health.js',
    'pino/docs/api.js',
    '@scope/name/__tests__/data.json',
    'one/node_modules/@scope/two/tests/index.js',
    'fastify/README.md',
    'sharp/src/sharp.cc',
    'dejavu-fonts-ttf/ttf/DejaVuSerif.ttf',
    'thread-stream/.github/workflows/x.js',
  ];
  expect(needed.filter((path) => !isNeeded(path))).toEqual([]);
  expect(unneeded.filter(isNeeded)).toEqual([]);
});

test('a compiled package exports compiled files, and says no more than Node reads', () => {
  expect(
    compiledManifest({
      name: '@brand-data/some',
      version: '1.2.3',
      private: true,
      type: 'module',
      exports: { '.': './src/index.ts', './main': { default: './src/main.ts' } },
      dependencies: { other: '1.0.0' },
      bin: { some: './some.mjs' },
    }),
  ).toEqual({
    name: '@brand-data/some',
    version: '1.2.3',
    type: 'module',
    exports: { '.': './src/index.js', './main': { default: './src/main.js' } },
  });
});
