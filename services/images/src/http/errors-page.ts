import { escapeHtml } from '@brand-data/runtime/html';
import type { ProblemKind } from '@brand-data/runtime/http';

/**
 * Makes the page that a problem's `type` links to. It explains every kind, each under an anchor of its code.
 *
 * @param service the name of what the API gives, as in "Errors of the Brand Data Service"
 */
export function errorsPage(
  service: string,
  kinds: Readonly<Record<string, ProblemKind>>,
): { headers: Record<string, string>; body: Buffer } {
  const entries = Object.entries(kinds).map(
    ([code, { status, title, help }]) =>
      `<h2 id="${code}"><code>${code}</code> (${status})</h2>\n<p>${escapeHtml(title)}. ${escapeHtml(help)}</p>`,
  );
  const body = [
    '<!doctype html>',
    `<html lang="en"><meta charset="utf-8"><title>Errors of ${escapeHtml(service)}</title>`,
    '<body style="font: 16px/1.5 system-ui; max-width: 45em; margin: 2em auto; padding: 0 1em">',
    '<h1>Errors</h1>',
    '<p>Every error is <code>application/problem+json</code> (RFC 9457) with one of these codes.</p>',
    ...entries,
    '</body></html>',
  ].join('\n');
  return {
    headers: {
      'Cache-Control': 'public, max-age=3600',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
      'Content-Type': 'text/html; charset=utf-8',
    },
    body: Buffer.from(body),
  };
}
