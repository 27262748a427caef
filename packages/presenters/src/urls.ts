import { isEmptyText } from './compact.ts';

/** Joins the logo host and an image's path with one slash. Undefined if the path is blank. */
export function imageUrl(logoHost: string, path: string): string | undefined {
  const bare = path.replace(/^\/+/, '');
  return isEmptyText(bare) ? undefined : `${logoHost.replace(/\/+$/, '')}/${bare}`;
}

/**
 * Removes repeated URLs. Of URLs that differ only in a slash at the path's end or in the case of the host, the first one stays.
 */
export function distinctWebsites(websites: readonly string[]): string[] {
  const seen = new Set<string>();
  return websites.filter((website) => {
    const key = websiteKey(website);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function websiteKey(website: string): string {
  const url = URL.parse(website);
  if (!url) return website.replace(/\/$/, '');
  url.pathname = url.pathname.replace(/\/$/, '');
  return url.href;
}
