/** Defines <brand-logo> and <brand-card>. Needs a browser (packages/client/README.md). */

import { BrandCard } from './brand-card.ts';
import type { BrandElementEventMap } from './brand-element.ts';
import { BrandLogo } from './brand-logo.ts';

export type { BrandCard, BrandElementEventMap, BrandLogo };

declare global {
  interface HTMLElementTagNameMap {
    'brand-logo': BrandLogo;
    'brand-card': BrandCard;
  }
}

// A page may load the script twice. The first copy stays.
for (const [name, element] of [
  ['brand-logo', BrandLogo],
  ['brand-card', BrandCard],
] as const)
  if (customElements.get(name) === undefined) customElements.define(name, element);
