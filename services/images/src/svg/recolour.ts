import { COLOURS, replaceColours } from './css.ts';
import type { SvgElement } from './svg-tree.ts';

/** Values of paint that are not colours, or take the colour from elsewhere. */
const NO_COLOUR =
  /^(none|transparent|inherit|initial|unset|currentcolor|context-fill|context-stroke)$|url\(/i;

/**
 * Returns the drawing with all its colours replaced by one. Masks keep their colours, because these decide what is transparent.
 * The caller has to compare the result with the original, because CSS can give colours in ways that this function does not
 * follow.
 */
export function recoloured(root: SvgElement, colour: string): SvgElement {
  const attributes = new Map(root.attributes);
  // An element that states no colour is black, in masks too.
  const original = attributes.get('fill') ?? '#000';
  if (!attributes.has('fill')) attributes.set('fill', colour);
  attributes.set('color', colour);
  const replace = (value: string) => (NO_COLOUR.test(value.trim()) ? value : colour);
  return replaced({ ...root, attributes }, replace, original);
}

function replaced(element: SvgElement, replace: (value: string) => string, original: string): SvgElement {
  if (element.name === 'mask')
    return { ...element, attributes: new Map([['fill', original], ...element.attributes]) };
  const attributes = new Map(element.attributes);
  for (const [name, value] of attributes) {
    if (COLOURS.has(name)) attributes.set(name, replace(value));
    if (name === 'style') attributes.set(name, replaceColours(value, 'declarationList', replace));
  }
  const children = element.children.map((child) => {
    if (typeof child !== 'string') return replaced(child, replace, original);
    return element.name === 'style' ? replaceColours(child, 'stylesheet', replace) : child;
  });
  return { ...element, attributes, children };
}
