import { html } from '@brand-data/runtime/html';
import type { HttpAnswer } from '@brand-data/runtime/http';
import { IMAGE_PROBLEMS } from './problem.ts';

/** Returns the page that a problem's `type` links to. It explains every kind, each under an anchor of its code. */
export function errorsPage(): HttpAnswer {
  const entries = Object.entries(IMAGE_PROBLEMS).map(
    ([code, { status, title, help }]) =>
      html`<h2 id="${code}"><code>${code}</code> (${status})</h2>\n<p>${title}. ${help}</p>\n`,
  );
  const { markup } = html`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Errors of the images</title>
<body style="font: 16px/1.5 system-ui; max-width: 45em; margin: 2em auto; padding: 0 1em">
<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code> (RFC 9457) with one of these codes.</p>
${entries}</body></html>`;
  return {
    status: 200,
    headers: {
      'Cache-Control': 'public, max-age=3600',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
      'Content-Type': 'text/html; charset=utf-8',
    },
    body: Buffer.from(markup),
  };
}
