import type { FoundCompany } from '@brand-data/client/source';
import { element, safeUrl } from '@brand-data/client/source/dom';
import { TYPES } from './figures.ts';

const LOGO_SIZE = '32';

/** Returns a company as an option of a list box. */
export function companyOption({ name, type, symbol, domain, logo }: FoundCompany, api: string): HTMLElement {
  const facts = [symbol, domain].filter((fact) => fact !== null).join(' · ');
  const option = element(
    'div',
    { role: 'option', 'aria-selected': 'false' },
    element('span', {}, name),
    element('small', {}, facts || (TYPES[type] ?? '')),
  );
  const url = safeUrl(logo, api);
  if (url === undefined) return option;
  url.searchParams.set('theme', 'light');
  url.searchParams.set('size', LOGO_SIZE);
  option.prepend(element('img', { src: url.href, alt: '', referrerpolicy: 'no-referrer' }));
  return option;
}
