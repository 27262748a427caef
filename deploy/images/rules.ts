/** Which packages and files get into the images, and how they are changed. */

/** The package of this workspace that each image runs, by the image's name. */
export const IMAGES = {
  gateway: 'gateway',
  accounts: 'accounts',
  catalog: 'catalog',
  metering: 'metering',
  images: 'images',
  bds: 'operator',
};

/** Files that Node can load with the libraries that they are linked with, and the proto files that grpc-health-check reads. */
const LOADED = /\.(js|cjs|mjs|json|wasm|node|proto)$|\.so(\.\d+)*$/;
/** The fonts that services/images/assets/fonts.conf does not reject. */
const FONT = /^DejaVuSans(-Bold)?\.ttf$/;
const LICENCE = /^(licen[cs]e|notice|copying|copyright)/i;
/** This package names the licences of the libraries in it only here. */
const LICENCES_OF_LIBVIPS = /^@img\/sharp-libvips-[^/]+\/README\.md$/;
const TESTS = /^(tests?|__tests__)$/;
/** Folders of native parts for systems that the images do not have. */
const OTHER_SYSTEMS = /^(android|darwin|ios|win32)-/;
/** Top-level folders of packages from which no program loads anything. */
const ASIDE = /^(docs?|examples?|benchmarks?|scripts)$/;

/** Whether a service may need this file, a path below `node_modules`. Licences are kept with their packages. */
export function isNeeded(path: string): boolean {
  const segments = path.split('/');
  if (segments.some((segment) => segment.startsWith('.')) || segments[0] === '@types') return false;
  const name = segments.pop() ?? '';
  // A package inside another package's folder: `one/node_modules/two/lib`.
  for (const folder of segments.join('/').split('/node_modules/')) {
    const [top = '', ...below] = folder.split('/').slice(folder.startsWith('@') ? 2 : 1);
    if (ASIDE.test(top) || [top, ...below].some((each) => TESTS.test(each) || OTHER_SYSTEMS.test(each)))
      return false;
  }
  return LOADED.test(name) || FONT.test(name) || LICENCE.test(name) || LICENCES_OF_LIBVIPS.test(path);
}

/** Returns the fields of package.json that Node reads, with the compiled files as exports. */
export function compiledManifest({ name, version, type, exports }: Record<string, unknown>) {
  const js = JSON.parse(JSON.stringify(exports ?? {}).replaceAll('.ts"', '.js"'));
  return { name, version, type, exports: js };
}
