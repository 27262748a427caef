import type { SiteFile } from '@brand-data/site';
import { createStaticFile, type FileAnswer } from './static-file.ts';

/** Short, because the files keep their names from one version to the next. After that, browsers ask with the ETag. */
const CACHE_CONTROL = 'public, max-age=300';

/** Scripts that pages of other origins may load. */
const FOR_OTHER_ORIGINS = ['/elements.js'];

/**
 * Returns the answers of the pages for people and of their files, by path.
 *
 * @param files from packages/site
 * @param logoHost the base URL of images, which pages may show
 */
export function createPages(
  files: readonly SiteFile[],
  { logoHost }: { logoHost: string },
): ReadonlyMap<string, FileAnswer> {
  const policy = contentSecurityPolicy(logoHost);
  return new Map(
    files.map(({ path, type, body }) => {
      const headers = {
        'Cache-Control': CACHE_CONTROL,
        // A page's URL never holds a token, but a caller may put one there by mistake.
        'Referrer-Policy': 'no-referrer',
        ...(type.startsWith('text/html') && { 'Content-Security-Policy': policy }),
        ...(FOR_OTHER_ORIGINS.includes(path) && { 'Cross-Origin-Resource-Policy': 'cross-origin' }),
      };
      return [path, createStaticFile(body, { type, headers })];
    }),
  );
}

/** Pages load only files and answers of this gateway, and images from `logoHost`. */
function contentSecurityPolicy(logoHost: string): string {
  // These characters would end the source.
  const images = new URL(`${logoHost}/`).href.replaceAll(';', '%3B').replaceAll(',', '%2C');
  return [
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
    `img-src 'self' ${images}`,
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ].join('; ');
}
