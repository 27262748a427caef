/** Width and height of a drawing, in whole pixels, as its root states them. */
function svgSize(text: string): { width: number; height: number } {
  const [root = ''] = ROOT.exec(text) ?? [];
  const stated = (name: string) => Number(new RegExp(`\\s${name}="(\\d+)"`).exec(root)?.[1]);
  const size = { width: stated('width'), height: stated('height') };
  if (!(size.width > 0 && size.height > 0)) throw new Error('a stored SVG states no width and height');
  return size;
}

/** The drawing with another width and height, in pixels. The text after its root's start stays as it is. */
export function resizeSvg(text: string, { width, height }: { width: number; height: number }): string {
  return text.replace(ROOT, (root) =>
    root.replace(/\swidth="\d+"/, ` width="${width}"`).replace(/\sheight="\d+"/, ` height="${height}"`),
  );
}

/** The start of the root. Every SVG that the service stores or draws begins with it, and no attribute contains `>`. */
const ROOT = /^<svg\s[^>]*>/;
