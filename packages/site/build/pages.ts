type Entry = [file: string, name: string, summary: string];

const ENTRIES: readonly [group: string, entries: readonly Entry[]][] = [
  [
    'Get started',
    [
      ['start', 'Quick start', 'From zero to a company’s logo and headquarters on a page, in five minutes.'],
      ['images', 'A logo in one line', 'A logo by its address, and how to move here from other services.'],
      [
        'search',
        'Search while typing',
        'A text box that completes: companies by the beginning of their names.',
      ],
      ['clients', 'Clients', 'The client for JavaScript, for Node and pages, and where it comes from.'],
      ['frameworks', 'React, Vue, Next', 'Logos and cards in frameworks, in the browser and on a server.'],
      ['mobile', 'iPhone and Android', 'Logos in SwiftUI and Jetpack Compose.'],
      ['spreadsheets', 'Spreadsheets', 'Logos and facts in the cells of Google Sheets and Excel.'],
      ['python', 'Python', 'Calls with httpx, many companies in a row, and two clients.'],
      ['generators', 'Other languages', 'Clients for Go, Kotlin, Swift and others, made by generators.'],
      [
        'assistants',
        'Assistants',
        'Look-ups from Claude, Cursor, VS Code and others, by the Model Context Protocol.',
      ],
    ],
  ],
  [
    'How it works',
    [
      [
        'identifiers',
        'Identifiers',
        'What you can ask for, how it is matched, and every notation of tickers.',
      ],
      ['quotas', 'Quotas and headers', 'Which answers are counted, and the headers that say what is left.'],
      [
        'caching',
        'Caching and CDNs',
        'What may be kept and for how long, and what a cache does to the bill.',
      ],
      ['errors', 'Errors', 'Every error code: what it means, whether it is counted, and what to do.'],
      ['reference', 'Reference', 'Every operation, parameter, status, header and field.'],
    ],
  ],
  [
    'About the service',
    [
      ['plans', 'Plans', 'What a plan allows, and which one you have.'],
      ['sources', 'Sources and licences', 'Where the data comes from, and what you may do with it.'],
      ['compatibility', 'Compatibility', 'What stays as it is, and what your program should be ready for.'],
      ['changes', 'Changes of the API', 'What callers can use, and since which version.'],
      ['contact', 'Contact', 'Who to ask for a token or for help, and what to tell them.'],
    ],
  ],
];

export interface DocsPage {
  /** The path of its URL. */
  path: string;
  /** Its source, in `docs`. */
  file: string;
  /** Its name in the navigation. */
  name: string;
  /** A description of the page's content, for readers. */
  summary: string;
}

/** The pages of the documentation, in the order of their navigation. */
export const GROUPS: readonly { name: string; pages: readonly DocsPage[] }[] = ENTRIES.map(
  ([name, entries]) => ({
    name,
    pages: entries.map(([file, name, summary]) => ({
      path: file === 'start' ? '/docs' : `/docs/${file}`,
      file: `${file}.md`,
      name,
      summary,
    })),
  }),
);

export const DOCS = GROUPS.flatMap(({ pages }) => pages);
