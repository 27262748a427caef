/** The pages of the documentation, in the order of their navigation. */

export interface DocsPage {
  /** The path of its URL. */
  path: string;
  /** The Markdown file in `docs`. */
  file: string;
  /** Its name in the navigation. */
  name: string;
  /** A description of the page's content, for readers. */
  summary: string;
}

export const DOCS: readonly DocsPage[] = [
  {
    path: '/docs',
    file: 'start.md',
    name: 'Start',
    summary: 'From zero to a company’s logo and headquarters on a page, in five minutes.',
  },
  {
    path: '/docs/identifiers',
    file: 'identifiers.md',
    name: 'Identifiers',
    summary: 'What you can ask for, how it is matched, and every notation of tickers.',
  },
  {
    path: '/docs/quotas',
    file: 'quotas.md',
    name: 'Quotas and headers',
    summary: 'Which answers are counted, and the headers that say what is left.',
  },
  {
    path: '/docs/caching',
    file: 'caching.md',
    name: 'Caching and CDNs',
    summary: 'What may be kept and for how long, and what a cache does to the bill.',
  },
  {
    path: '/docs/errors',
    file: 'errors.md',
    name: 'Errors',
    summary: 'Every error code: what it means, whether it is counted, and what to do.',
  },
  {
    path: '/docs/python',
    file: 'python.md',
    name: 'Python',
    summary: 'Calls with httpx, many companies in a row, and a generated client.',
  },
  {
    path: '/docs/sources',
    file: 'sources.md',
    name: 'Sources and licences',
    summary: 'Where the data comes from, how old it may be, and what you may do with it.',
  },
  {
    path: '/docs/reference',
    file: 'reference.md',
    name: 'Reference',
    summary: 'Every operation, parameter, status, header and field.',
  },
];
