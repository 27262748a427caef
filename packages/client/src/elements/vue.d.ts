/** Tells Vue's templates of the elements (packages/client/README.md). */
import type { DefineComponent } from 'vue';
import type { BrandElementAttributes, BrandElementEventMap } from './index.js';

type Props = BrandElementAttributes & {
  onBrandLoad?: (event: BrandElementEventMap['brand-load']) => void;
  onBrandError?: (event: BrandElementEventMap['brand-error']) => void;
};

declare module 'vue' {
  interface GlobalComponents {
    'brand-logo': DefineComponent<Props>;
    'brand-card': DefineComponent<Props>;
  }
}
