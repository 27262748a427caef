import { errorsPage } from '@brand-data/runtime';
import type { Content } from './answer.ts';
import { PROBLEMS } from './problem.ts';

/** Makes the page that a problem's `type` links to. */
export function docsPage(): Content {
  return { status: 200, ...errorsPage('the Brand Data Service', PROBLEMS) };
}
