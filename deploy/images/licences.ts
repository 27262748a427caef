/** Which licences the packages in the images may have. */
import satisfies from 'spdx-satisfies';
import { type Component, packageName } from './sbom.ts';

/** SPDX ids. All allow distributing the package in an image under the condition that its notice stays with it. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
];
/** Packages that are allowed for another reason, with exactly the licence that they name. */
const EXCEPTIONS: { package: RegExp; licence: string }[] = [
  // Linked dynamically and unchanged: anyone can replace the library's file in the image.
  { package: /^@img\/sharp-libvips-/, licence: 'LGPL-3.0-or-later' },
  // Bitstream Vera's licence, which has no SPDX id in the package: fonts may be distributed with software.
  { package: /^dejavu-fonts-ttf$/, licence: 'SEE LICENSE IN README.md AND LICENSE' },
];

/** Returns the problems of these packages' licences, one line each. */
export function licenceProblems(components: readonly Component[]): string[] {
  return components.flatMap((component) => {
    const name = packageName(component);
    const licences = (component.licenses ?? []).map(
      ({ license, expression }) => expression ?? license?.id ?? license?.name ?? '',
    );
    if (licences.length > 0 && licences.every((licence) => mayBe(name, licence))) return [];
    const stated = licences.join(' AND ');
    const what = stated === '' ? 'names no licence' : `is under ${stated}, which is not on the list`;
    return [
      `${name}@${component.version} ${what}: read its licence, then add it to deploy/images/licences.ts or use another package`,
    ];
  });
}

function mayBe(name: string, licence: string): boolean {
  if (EXCEPTIONS.some((each) => each.package.test(name) && each.licence === licence)) return true;
  try {
    return satisfies(licence, ALLOWED);
  } catch {
    // Not an SPDX expression.
    return false;
  }
}
