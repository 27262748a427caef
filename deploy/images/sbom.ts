/** Makes the list of what an image holds, in the format CycloneDX. pnpm knows the packages, and this adds Node and its libraries. */
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '../..');
const SCOPE = '@brand-data';
const LICENCE = 'Apache-2.0';

export interface Component {
  type: string;
  group?: string;
  name: string;
  version: string;
  purl: string;
  'bom-ref': string;
  cpe?: string;
  /** A package names one licence, or an expression of several. */
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
}

/** The fields of a CycloneDX document that are read or changed here. All other fields stay as pnpm has written them. */
export interface Sbom {
  specVersion: string;
  serialNumber?: string;
  metadata: { timestamp?: string; component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

export interface Held {
  /** The npm packages in the image, as `packageUrl` names them. */
  packages: ReadonlySet<string>;
  /** The version of Node, such as `24.21.0`. */
  node: string;
  /** The records of dpkg about the libraries of Node, and /etc/os-release of the system that they come from. */
  libraries: readonly string[];
  system: string;
}

/** Names an npm package and its version as SBOMs and scanners do: `pkg:npm/%40nats-io/nuid@3.0.0`. */
export function packageUrl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** Returns the name with its scope, as npm writes it: `@nats-io/nuid`. */
export function packageName({ group, name }: Component): string {
  return group === undefined ? name : `${group}/${name}`;
}

/** pnpm's SBOM of the production dependencies of these packages of the workspace. Needs `pnpm` on the PATH. */
export async function sbomOfPackages(names: readonly string[]): Promise<Sbom> {
  const filters = names.map((name) => `--filter=${SCOPE}/${name}`);
  const options = ['--sbom-format=cyclonedx', '--sbom-type=application', '--prod'];
  const { stdout } = await promisify(execFile)('pnpm', [...filters, 'sbom', ...options], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 ** 2,
  });
  return JSON.parse(stdout);
}

/**
 * Returns the SBOM of an image: only the packages that the image holds, then Node and its libraries. The same content gives the
 * same bytes, so that an unchanged layer stays the same: the document has no time, and its serial number is a hash. Throws an
 * error if the image holds a package that pnpm does not list.
 */
export function sbomOfImage(sbom: Sbom, held: Held): Sbom {
  const packages = sbom.components.filter(({ purl }) => held.packages.has(purl)).map(withOwnLicence);
  const listed = new Set(packages.map(({ purl }) => purl));
  const unlisted = [...held.packages].filter((purl) => !listed.has(purl));
  if (unlisted.length > 0) throw new Error(`pnpm's SBOM lacks packages of the image: ${unlisted.join(', ')}`);
  const system = [
    nodeComponent(held.node),
    ...held.libraries.map((record) => debianComponent(record, held.system)),
  ];
  const components = [...packages, ...system].toSorted((one, other) => (one.purl < other.purl ? -1 : 1));
  const { timestamp: _, ...metadata } = sbom.metadata;
  const root = metadata.component['bom-ref'];
  const refs = new Set([root, ...components.map((component) => component['bom-ref'])]);
  const dependencies = sbom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => {
      const below = ref === root ? [...dependsOn, ...system.map((each) => each['bom-ref'])] : dependsOn;
      return { ref, dependsOn: below.filter((each) => refs.has(each)).toSorted() };
    })
    .toSorted((one, other) => (one.ref < other.ref ? -1 : 1));
  const { serialNumber: __, ...rest } = sbom;
  const content = { ...rest, metadata, components, dependencies };
  return { ...content, serialNumber: serialNumber(JSON.stringify(content)) };
}

/** pnpm does not look up the licence of our own packages. */
function withOwnLicence(component: Component): Component {
  return component.group === SCOPE ? { ...component, licenses: [{ license: { id: LICENCE } }] } : component;
}

function nodeComponent(version: string): Component {
  const purl = `pkg:generic/node@${version}`;
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`;
  return { type: 'application', name: 'node', version, purl, 'bom-ref': purl, cpe };
}

/** Reads a record of /var/lib/dpkg/status. */
function debianComponent(record: string, system: string): Component {
  const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(record)?.[1] ?? '';
  const release = /^VERSION_ID="?([\d.]+)/m.exec(system)?.[1];
  const [name, version] = [field('Package'), field('Version')];
  const qualifiers = `arch=${field('Architecture')}${release === undefined ? '' : `&distro=debian-${release}`}`;
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?${qualifiers}`;
  return { type: 'library', name, version, purl, 'bom-ref': purl };
}

/** A UUID of version 8 (RFC 9562), made of a hash. */
function serialNumber(content: string): string {
  const hex = hash('sha256', content);
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
