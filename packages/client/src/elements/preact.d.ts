/** Tells Preact's JSX of the elements (packages/client/README.md). */
import type { ClassAttributes, HTMLAttributes } from 'preact';
import type { BrandCard, BrandElementAttributes, BrandElementListeners, BrandLogo } from './index.js';

type Props<Element> = ClassAttributes<Element> &
  HTMLAttributes<Element> &
  BrandElementAttributes &
  BrandElementListeners<'on'>;

declare module 'preact' {
  namespace JSX {
    interface IntrinsicElements {
      'brand-logo': Props<BrandLogo>;
      'brand-card': Props<BrandCard>;
    }
  }
}
