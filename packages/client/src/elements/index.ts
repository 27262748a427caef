/** Defines <brand-logo> and <brand-card> in a browser, and does nothing on a server (packages/client/README.md). */

import { BrandCard } from './brand-card.ts';
import type { BrandElementAttributes, BrandElementEventMap, BrandElementListeners } from './brand-element.ts';
import { BrandLogo } from './brand-logo.ts';

export type { BrandCard, BrandElementAttributes, BrandElementEventMap, BrandElementListeners, BrandLogo };

declare global {
  interface HTMLElementTagNameMap {
    'brand-logo': BrandLogo;
    'brand-card': BrandCard;
  }
  interface HTMLElementEventMap extends BrandElementEventMap {}
}

// A page may load the script twice. The first copy stays. A server that renders pages has no elements.
for (const [name, element] of [
  ['brand-logo', BrandLogo],
  ['brand-card', BrandCard],
] as const)
  if (globalThis.customElements?.get(name) === undefined) globalThis.customElements?.define(name, element);
