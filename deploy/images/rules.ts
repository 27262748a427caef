/** What is in the images, and what becomes of it on the way there. */

/** What Node can load, and the proto files that grpc-health-check reads. */
const LOADED = /\.(js|cjs|mjs|json|wasm|node|proto)$/;
const LICENCE = /^(licen[cs]e|notice|copying|copyright)/i;
const TESTS = /^(tests?|__tests__)$/;
/** Folders at the top of packages that nothing is loaded from. */
const ASIDE = /^(docs?|examples?|benchmarks?|scripts)$/;

/** Whether a service may need this file, a path below `node_modules`; licences go along with what they are for. */
export function isNeeded(path: string): boolean {
  const segments = path.split('/');
  if (segments.some((segment) => segment.startsWith('.')) || segments[0] === '@types') return false;
  const name = segments.pop() ?? '';
  // A package in another's folder: `one/node_modules/two/lib`.
  for (const folder of segments.join('/').split('/node_modules/')) {
    const [top = '', ...below] = folder.split('/').slice(folder.startsWith('@') ? 2 : 1);
    if (ASIDE.test(top) || [top, ...below].some((each) => TESTS.test(each))) return false;
  }
  return LOADED.test(name) || LICENCE.test(name);
}

/** The fields that Node reads, where everything is compiled. */
export function compiledManifest({ name, version, type, exports }: Record<string, unknown>) {
  const js = JSON.parse(JSON.stringify(exports ?? {}).replaceAll('.ts"', '.js"'));
  return { name, version, type, exports: js };
}
