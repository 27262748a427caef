import { drawPixels, MEASURED_FINELY, type Pixels, renderRaster } from '../drawing/draw.ts';
import { type Form, type PictureKind, SIZES, type Treatment } from '../image/image.ts';
import { readSvg } from '../svg/read-svg.ts';
import { elementsOf, type SvgElement } from '../svg/svg-tree.ts';
import { hexOf, onlyColour, readableColour, recoloured } from './colours.ts';
import { contrastOf, isReadableOn, READABLE, type Rgb } from './contrast.ts';
import { formatOf } from './file-format.ts';
import { onPlate, plateColour } from './plate.ts';
import { readRaster } from './raster.ts';
import { asRefused, drawDrawing, nothingDrawn, readDrawing, svgForm } from './svg.ts';

/** The result of preparing an image for the store. */
export interface Ingested {
  light: Form;
  /** Absent if the light form serves dark pages too. */
  dark?: Form;
  treatments: Record<'light' | 'dark', Treatment>;
}

/** The colours of the pages that pictures are made for. */
export const PAGES: Record<'light' | 'dark', Rgb> = { light: [255, 255, 255], dark: [17, 17, 17] };

/** The longer side that an SVG of each kind gets, in pixels. It is also drawn sharply in any other size. */
const SVG_SIDE: Record<PictureKind, number> = { logo: 512, exchange: 512, banner: 1024 };

/**
 * Makes a file safe, and makes its forms for light and dark pages. Throws `Refused`.
 *
 * @param options.isStored whether `file` is the light form of a stored image: a raster then stays as it is, since encoding it again
 *   could lose more of it
 */
export async function ingest(
  file: Uint8Array,
  { kind, dark, isStored = false }: { kind: PictureKind; dark?: Uint8Array | undefined; isStored?: boolean },
): Promise<Ingested> {
  const given = await read(file, kind, isStored);
  const givenDark = dark === undefined ? given : await read(dark, kind);
  const light = await readableForm(given, kind, 'light');
  const darkForm = await readableForm(givenDark, kind, 'dark');
  const treatments = { light: light.treatment, dark: darkForm.treatment };
  const same = Buffer.compare(light.form.bytes, darkForm.form.bytes) === 0;
  for (const { form } of same ? [light] : [light, darkForm]) await tryLargest(form);
  return { light: light.form, ...(!same && { dark: darkForm.form }), treatments };
}

/**
 * Draws a drawing in the largest size that a request can ask for, and throws the result away. If that takes more than a worker's
 * bounds, it ends this worker and the file is refused. Otherwise each request would end one. Most icons are so simple that this is
 * skipped: it would take longer than all the rest of their ingest.
 */
async function tryLargest(form: Form): Promise<void> {
  if (form.format !== 'svg' || isSurelyCheap(readSvg(form.bytes), form.bytes.length)) return;
  const longer = Math.max(...SIZES, form.width, form.height);
  await renderRaster(form, { longer, format: 'png' }).catch(asRefused);
}

/** A safe picture, and the pixels that it paints. */
interface Measured {
  form: Form;
  pixels: Pixels;
}

async function read(file: Uint8Array, kind: PictureKind, isStored = false): Promise<Measured> {
  const format = formatOf(file);
  const form =
    format === 'svg' ? await readDrawing(file, SVG_SIDE[kind]) : await readRaster(file, { format, isStored });
  return { form, pixels: await pixelsOf(form) };
}

/**
 * Returns the picture as it can be read on the pages of a theme: as given if it can be, else in another colour if it is a drawing
 * of one colour, else on a plate. A banner is a picture by itself and stays as given.
 */
async function readableForm(
  { form, pixels }: Measured,
  kind: PictureKind,
  theme: 'light' | 'dark',
): Promise<{ form: Form; treatment: Treatment }> {
  const page = PAGES[theme];
  const isReadable = await isFormReadable(form, page, pixels);
  if (isReadable === undefined) throw nothingDrawn();
  if (kind === 'banner' || isReadable) return { form, treatment: 'as_given' };
  const inOtherColour = form.format === 'svg' ? await readableInColour(form, pixels, page) : undefined;
  if (inOtherColour !== undefined) return { form: inOtherColour, treatment: 'recoloured' };
  return { form: await onPlate(form, plateColour(pixels, theme)), treatment: 'plate' };
}

function pixelsOf({ format, bytes }: Form, longer?: number): Promise<Pixels> {
  return format === 'svg' ? drawDrawing(bytes, longer) : drawPixels(bytes, longer);
}

/**
 * Checks whether a form can be read on a page. Undefined if it paints nothing. In `pixels`, the small drawing, fine lines are
 * fainter than people see them. Therefore a picture that is not readable there is measured again in a larger drawing, unless its
 * only colour cannot be readable in any size.
 */
async function isFormReadable(form: Form, page: Rgb, pixels: Pixels): Promise<boolean | undefined> {
  const isReadable = isReadableOn(pixels, page);
  if (isReadable) return true;
  const colour = onlyColour(pixels);
  if (colour !== undefined && contrastOf(colour, page) < READABLE) return isReadable;
  return isReadableOn(await pixelsOf(form, MEASURED_FINELY), page);
}

/** Returns a drawing of one colour in a readable colour. Undefined if it has several, or would look different otherwise too. */
async function readableInColour(form: Form, before: Pixels, page: Rgb): Promise<Form | undefined> {
  const colour = onlyColour(before);
  if (colour === undefined) return undefined;
  const readable = readableColour(colour, page);
  const changed = svgForm(recoloured(readSvg(form.bytes), hexOf(readable)));
  const after = await drawDrawing(changed.bytes);
  const hasColour = onlyColour(after)?.every(
    (value, channel) => Math.abs(value - (readable[channel] ?? 0)) <= 3,
  );
  const isReadable = await isFormReadable(changed, page, after);
  return hasColour && isReadable && hasSameShape(before, after) ? changed : undefined;
}

/** Checks whether two drawings of one size are equally opaque everywhere, but for rounding. */
function hasSameShape(one: Pixels, other: Pixels): boolean {
  for (let at = 3; at < one.data.length; at += 4)
    if (Math.abs((one.data[at] ?? 0) - (other.data[at] ?? 0)) > 4) return false;
  return one.data.length === other.data.length;
}

/** A drawing within these bounds that uses nothing else than the lists below takes at most 0.4 s in 512 pixels. */
const FEW_BYTES = 16 * 1024;
const FEW_ELEMENTS = 100;

const ELEMENTS = new Set(['svg', 'g', 'path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon']);
const ATTRIBUTES = new Set(
  `xmlns version xml:space id class width height viewBox preserveAspectRatio x y x1 y1 x2 y2 cx cy r rx
  ry d points transform color fill fill-rule fill-opacity clip-rule stroke stroke-width stroke-linecap
  stroke-linejoin stroke-miterlimit stroke-opacity`.split(/\s+/),
);

/**
 * Checks whether a drawing, as it is stored in a text of `bytes`, surely takes little time and memory in every size. Whatever is
 * not listed as cheap counts as costly, such as a filter, a mask, a style or a reference.
 */
export function isSurelyCheap(root: SvgElement, bytes: number): boolean {
  if (bytes > FEW_BYTES) return false;
  const elements = [...elementsOf(root)];
  return elements.length <= FEW_ELEMENTS && elements.every(isCheap);
}

function isCheap({ name, attributes }: SvgElement): boolean {
  return (
    ELEMENTS.has(name) &&
    [...attributes].every(([attribute, value]) => ATTRIBUTES.has(attribute) && !/url\(/i.test(value))
  );
}
