/** Tells React's JSX of the elements (packages/client/README.md). */
import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { BrandCard, BrandElementAttributes, BrandElementListeners, BrandLogo } from './index.js';

type Props<Element> = DetailedHTMLProps<HTMLAttributes<Element>, Element> &
  BrandElementAttributes &
  BrandElementListeners<'on'>;

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'brand-logo': Props<BrandLogo>;
      'brand-card': Props<BrandCard>;
    }
  }
}
