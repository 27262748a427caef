import { Refused } from '../image/image.ts';
import type { SvgElement } from './svg-tree.ts';

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Pixels of each unit of length. */
const UNITS: Record<string, number> = {
  '': 1,
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  mm: 96 / 25.4,
  cm: 96 / 2.54,
  q: 96 / 101.6,
  em: 16,
  ex: 8,
};
/** How much longer one side may be than the other. */
const RATIO = 100;

/** Returns the part of the drawing that is shown: its viewBox, or its width and height. Undefined if it states neither. */
export function statedBox({ attributes }: SvgElement): Box | undefined {
  const numbers = (attributes.get('viewBox') ?? '').trim().split(/[\s,]+/);
  const [x = Number.NaN, y = Number.NaN, width = 0, height = 0] = numbers.map(Number);
  if (Number.isFinite(x + y) && width > 0 && height > 0) return checked({ x, y, width, height });
  const size = statedSize(attributes);
  return size && checked({ x: 0, y: 0, ...size });
}

/** Returns the root with a viewBox, and a width and height in the stated shape or the box's. The longer has `longer` pixels. */
export function withSize(root: SvgElement, box: Box, longer: number): SvgElement {
  const { width, height } = scaled(statedSize(root.attributes) ?? box, longer);
  const attributes = new Map([
    ['width', String(width)],
    ['height', String(height)],
    ['viewBox', [box.x, box.y, box.width, box.height].join(' ')],
  ]);
  for (const [name, value] of root.attributes)
    if (!attributes.has(name) && !['x', 'y', 'version'].includes(name)) attributes.set(name, value);
  return { ...root, attributes };
}

/** Returns width and height in whole pixels, of which the longer has `longer`. */
export function scaled({ width, height }: Pick<Box, 'width' | 'height'>, longer: number) {
  const scale = longer / Math.max(width, height);
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

function statedSize(attributes: ReadonlyMap<string, string>): { width: number; height: number } | undefined {
  const width = pixels(attributes.get('width'));
  const height = pixels(attributes.get('height'));
  return width === undefined || height === undefined ? undefined : checked({ x: 0, y: 0, width, height });
}

/** Returns a length in pixels. Undefined for percentages and for texts that are not lengths. */
function pixels(text = ''): number | undefined {
  const [, number, unit = ''] = /^\s*\+?(\d*\.?\d+(?:e[+-]?\d{1,2})?)\s*([a-z]{0,2})\s*$/i.exec(text) ?? [];
  const factor = UNITS[unit.toLowerCase()];
  const length = factor === undefined ? 0 : Number(number) * factor;
  return length > 0 ? length : undefined;
}

function checked(box: Box): Box {
  const longer = Math.max(box.width, box.height);
  if (longer > RATIO * Math.min(box.width, box.height))
    throw new Refused(`one side of the SVG is more than ${RATIO} times as long as the other: crop it`);
  if (longer > 1e6 || longer < 1e-3 || Math.abs(box.x) > 1e6 || Math.abs(box.y) > 1e6)
    throw new Refused('the SVG has a size or a viewBox beyond all measure: scale it to some hundred units');
  return box;
}

/** Returns the drawing with another width and height, in pixels. The text after its root's start stays as it is. */
export function resizeSvg(text: string, { width, height }: { width: number; height: number }): string {
  return text.replace(ROOT, (root) =>
    root.replace(/\swidth="\d+"/, ` width="${width}"`).replace(/\sheight="\d+"/, ` height="${height}"`),
  );
}

/** The start of the root. Every SVG that the service stores or draws begins with it, and no attribute contains `>`. */
const ROOT = /^<svg\s[^>]*>/;
