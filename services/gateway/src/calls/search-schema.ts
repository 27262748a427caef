import { type Static, Type } from 'typebox';

const textOrNull = (description: string, example: string) =>
  Type.Union([Type.String(), Type.Null()], { description, examples: [example] });

const foundCompany = Type.Object(
  {
    identifier: Type.String({
      description: 'Finds exactly this company on the routes of records.',
      examples: ['FIG'],
    }),
    name: Type.String({ description: 'Display name.', examples: ['Figma'] }),
    type: Type.Enum(['stock', 'brand'], {
      description: '"stock": a listed company; "brand": any other company.',
      examples: ['stock'],
      type: 'string',
    }),
    symbol: textOrNull('Ticker of the main listing; null if the company is not listed.', 'FIG'),
    domain: textOrNull('Domain of the primary website; null if none is known.', 'figma.com'),
    logo: textOrNull(
      'URL of the logo, or of a monogram if no logo is known.',
      'https://api.example.com/images/logos/ede9a6697d52c2b2e7e907ea30cdef09.svg',
    ),
  },
  { title: 'FoundCompany', description: 'A company in brief.', additionalProperties: false },
);

/** JSON Schema of the answer of /v1/search. */
export const searchSchema = Type.Object(
  { companies: Type.Array(foundCompany, { description: 'The best known first.', maxItems: 10 }) },
  { title: 'SearchAnswer', description: 'The companies that a text finds.', additionalProperties: false },
);

export type SearchAnswer = Static<typeof searchSchema>;
