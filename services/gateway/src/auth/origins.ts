/** Begins the host of a listed origin that stands for all subdomains: "https://*.example.com". */
const WILDCARD = '*.';
/** Labels of a host, joined by dots: "www", "a.b". Without this check, "https://evil.test?.example.com" would be a subdomain. */
const LABELS = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/**
 * Whether the origin is on the list. `https://*.example.com` lists all subdomains at any depth, but not `https://example.com`
 * itself. Scheme and port must be equal.
 *
 * @param listed as accounts stores them, in lower case
 */
export function isListed(origin: string, listed: readonly string[]): boolean {
  const given = origin.toLowerCase();
  return listed.some((each) => {
    const at = each.indexOf(`//${WILDCARD}`);
    return at < 0 ? each === given : isSubdomain(given, each, at);
  });
}

/** @param at where `//*.` begins in the listed origin */
function isSubdomain(given: string, listed: string, at: number): boolean {
  const [scheme, parent] = [listed.slice(0, at + 2), listed.slice(at + 3)];
  return (
    given.startsWith(scheme) &&
    given.endsWith(parent) &&
    LABELS.test(given.slice(scheme.length, given.length - parent.length))
  );
}
