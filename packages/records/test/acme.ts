/** The least that a record has. */
export const acme = {
  id: 'acme',
  type: 'brand',
  name: 'Acme',
  description: 'Acme makes anvils.',
  category: 'tools',
  rank: 500,
  sources: [{ name: 'hand-written' }],
};
