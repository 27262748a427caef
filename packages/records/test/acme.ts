/** A record with only the required fields. */
export const acme = {
  id: 'acme',
  type: 'brand',
  name: 'Acme',
  description: 'Acme makes anvils.',
  category: 'tools',
  rank: 500,
  sources: [{ name: 'hand-written' }],
};
