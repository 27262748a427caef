import { basename } from 'node:path';
import {
  Brand,
  BrandType,
  type PutImageRequest,
  type PutImageResponse,
  Treatment,
} from '@brand-data/contracts';
import { readPictureFile, setOverrides, storePicture } from '@brand-data/importers';
import { fieldOf, type PictureFieldName, withStoredPicture } from '@brand-data/records';
import { Command, Option } from '@commander-js/extra-typings';
import { PartlyFailed, UsageError } from '../../connection/failures.ts';
import type { Context } from '../../terminal/context.ts';
import { facts } from '../../text/tables.ts';
import { reasonOf, unsetOverrides } from './overrides.ts';

const KINDS = ['logo', 'stock_logo', 'banner'] as const;
type Kind = (typeof KINDS)[number];

/** What images did with a form of the picture. */
const TREATED: Readonly<Record<Treatment, string>> = {
  [Treatment.UNSPECIFIED]: '',
  [Treatment.AS_GIVEN]: 'as given',
  [Treatment.RECOLOURED]: 'recoloured',
  [Treatment.PLATE]: 'on a plate',
};

export function logoSetCommand({ catalog, images, output, pathOf }: Context) {
  return new Command('set')
    .description('Store a picture and show it in a record, above all sources and over every import')
    .argument('<id>', "the record's id, such as apple")
    .argument('<file>', 'SVG, PNG, WebP, AVIF, JPEG or GIF, of at most 4 MiB')
    .addOption(kindOption())
    .addOption(
      new Option('--theme <theme>', 'dark gives the present picture another form for dark pages')
        .choices(['light', 'dark'] as const)
        .default('light'),
    )
    .option('--reason <text>', 'why, as bds show displays it (default: the name of the file)')
    .option('--by <name>', 'who decided it (default: the operator whose credential bds uses)')
    .option('--dry-run', 'write nothing, and report what would change')
    .action(async (id, file, { kind, theme, by = '', dryRun = false, ...options }) => {
      const reason = reasonOf(options.reason ?? `bds logo set ${basename(file)}`);
      const { brand } = await catalog().call((client) => client.getBrand, { id, refusedLinks: false });
      const field = fieldOfKind(kind, brand?.type);
      const bytes = await readPictureFile(pathOf(file), file);
      const picture =
        theme === 'dark'
          ? withDarkForm(brand ?? Brand.create(), field, bytes)
          : { light: { $case: 'file', value: bytes } as const, darkFile: undefined };
      const stored = await storePicture(images(), field, picture, { dryRun });
      const value = Brand.fromPartial(withStoredPicture({}, field, stored));
      const setting = { from: file, id, field, value, by: by.trim(), reason };
      const { changed, refusals } = await setOverrides(catalog(), [setting], { dryRun });
      if (refusals.length > 0) throw new PartlyFailed(refusals.map((refusal) => refusal.reason).join('; '));
      const about = { id, field, dry_run: dryRun, changed: changed > 0 };
      output.answer({ ...about, ...storedToJson(stored) }, () => [
        dryRun ? 'Nothing was stored; this is what would be:' : undefined,
        `${id}: ${field} is ${changed === 0 ? 'unchanged' : 'set'}.`,
        textOf(stored),
      ]);
    });
}

export function logoUnsetCommand({ catalog, output }: Context) {
  return new Command('unset')
    .description('Remove a picture that bds logo set has set, so that the sources decide about it again')
    .argument('<id>', "the record's id, such as apple")
    .addOption(kindOption())
    .action(async (id, { kind }) => {
      // The record may be gone while its values wait for it. Its type is then unknown.
      const fields = [...new Set([fieldOfKind(kind, undefined), fieldOfKind(kind, BrandType.SUPERINVESTOR)])];
      const pairs = fields.map((field) => ({ id, field }));
      const unset = (await unsetOverrides({ catalog }, pairs, false)).done.map(({ field }) => field);
      output.answer({ id, unset }, () =>
        unset.length > 0
          ? `${id}: ${unset.join(', ')} is now as the sources state it.`
          : `${id}: ${fields[0]} was not set.`,
      );
    });
}

function kindOption() {
  return new Option('--kind <kind>', 'which picture of the record').choices(KINDS).default('logo');
}

/** Returns the field of a record that shows a picture of this kind. */
function fieldOfKind(kind: Kind, type: BrandType | undefined): PictureFieldName {
  if (kind === 'logo') return type === BrandType.SUPERINVESTOR ? 'manager.logo' : 'images.logo';
  return `images.${kind}`;
}

/** Returns the record's present picture with another form for dark pages. Throws a UsageError if the record has none. */
function withDarkForm(
  brand: Brand,
  field: PictureFieldName,
  darkFile: Buffer,
): Pick<PutImageRequest, 'light' | 'darkFile'> {
  const present = fieldOf(brand, field);
  const path: unknown = typeof present === 'string' ? present : Object(present).big?.path;
  if (typeof path !== 'string' || path === '')
    throw new UsageError(`${brand.id} has no ${field} yet: first set the form for light pages`);
  return { light: { $case: 'storedPath', value: path }, darkFile };
}

function storedToJson({ big, lightTreatment, darkTreatment }: PutImageResponse) {
  const { path, width, height, format, sizeKb } = big ?? {};
  const forms = { light_form: TREATED[lightTreatment], dark_form: TREATED[darkTreatment] };
  return { path, width, height, format, size_kb: sizeKb, ...forms };
}

function textOf({ big, lightTreatment, darkTreatment }: PutImageResponse): string {
  return facts([
    ['Path', big?.path],
    ['Size', `${big?.width} x ${big?.height} pixels, ${big?.format}, ${big?.sizeKb} KB`],
    ['Light form', TREATED[lightTreatment]],
    ['Dark form', TREATED[darkTreatment]],
  ]);
}
