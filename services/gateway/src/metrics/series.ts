export { readAtScrape } from '@brand-data/runtime';
