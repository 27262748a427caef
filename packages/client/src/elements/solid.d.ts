/** Tells Solid's JSX of the elements (packages/client/README.md). */
import type { JSX } from 'solid-js';
import type { BrandCard, BrandElementAttributes, BrandElementListeners, BrandLogo } from './index.js';

type Props<Element> = JSX.HTMLAttributes<Element> & BrandElementAttributes & BrandElementListeners<'on:'>;

declare module 'solid-js' {
  namespace JSX {
    interface IntrinsicElements {
      'brand-logo': Props<BrandLogo>;
      'brand-card': Props<BrandCard>;
    }
  }
}
