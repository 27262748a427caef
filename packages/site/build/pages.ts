/** The pages of the documentation, in the order of their navigation: the Markdown file in `docs`, name and summary. */
export const DOCS = [
  ['start', 'Start', 'From zero to a company’s logo and headquarters on a page, in five minutes.'],
  [
    'images',
    'A logo in one line',
    'A logo by its address: for pages, Markdown, e-mail and spreadsheets, and from other services.',
  ],
  ['identifiers', 'Identifiers', 'What you can ask for, how it is matched, and every notation of tickers.'],
  ['quotas', 'Quotas and headers', 'Which answers are counted, and the headers that say what is left.'],
  ['caching', 'Caching and CDNs', 'What may be kept and for how long, and what a cache does to the bill.'],
  ['errors', 'Errors', 'Every error code: what it means, whether it is counted, and what to do.'],
  ['python', 'Python', 'Calls with httpx, many companies in a row, and a generated client.'],
  [
    'sources',
    'Sources and licences',
    'Where the data comes from, how old it may be, and what you may do with it.',
  ],
  ['reference', 'Reference', 'Every operation, parameter, status, header and field.'],
].map(([file = '', name = '', summary = '']) => ({
  /** The path of its URL. */
  path: file === 'start' ? '/docs' : `/docs/${file}`,
  file: `${file}.md`,
  /** Its name in the navigation. */
  name,
  /** A description of the page's content, for readers. */
  summary,
}));
