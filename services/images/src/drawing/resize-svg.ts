/** Returns the drawing with another width and height, in pixels. The text after its root's start stays as it is. */
export function resizeSvg(text: string, { width, height }: { width: number; height: number }): string {
  return text.replace(ROOT, (root) =>
    root.replace(/\swidth="\d+"/, ` width="${width}"`).replace(/\sheight="\d+"/, ` height="${height}"`),
  );
}

/** The start of the root. Every SVG that the service stores or draws begins with it, and no attribute contains `>`. */
const ROOT = /^<svg\s[^>]*>/;
