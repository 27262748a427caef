import { html } from '@brand-data/runtime/html';
import { type HttpAnswer, HttpProblem, httpProblemFrom, type ProblemKind } from '@brand-data/runtime/http';
import { BASE, QUERY_HELP } from '../image/image.ts';

/** The errors of images' public HTTP server. */
export const IMAGE_PROBLEMS = {
  parameters_invalid: { status: 400, title: 'The query is not valid', help: QUERY_HELP },
  request_invalid: {
    status: 400,
    title: 'The request could not be read',
    help: 'It is not valid HTTP (400), took too long to arrive (408), or its URL and headers are too long (431).',
  },
  route_not_found: {
    status: 404,
    title: 'There is no such route',
    help: `Images are below ${BASE}, at the paths that records name.`,
  },
  image_not_found: {
    status: 404,
    title: 'There is no such image',
    help: 'Fetch the record again: its image has a new URL. The old URL of a stored image goes on answering for 30 days. The answer may be cached for a minute.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    help: 'Use GET, HEAD or OPTIONS.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong on our side',
    help: 'A defect. Report the request id.',
  },
  upstream_unavailable: {
    status: 503,
    title: 'The image cannot be had at the moment',
    help: 'The database does not answer, or too many images are being drawn. Try again after Retry-After seconds.',
  },
} as const satisfies Record<string, ProblemKind>;

type ImageProblemCode = keyof typeof IMAGE_PROBLEMS;

/** Ends a request for an image. */
export const ImageProblem = HttpProblem<ImageProblemCode>;
export type ImageProblem = HttpProblem<ImageProblemCode>;

/** A picture that cannot be drawn is not tried again for half a minute. */
const UNAVAILABLE = {
  retryAfter: { unavailable: '1', resource_exhausted: '1', failed_precondition: '30' },
  detail: 'The image cannot be had at the moment. Try again after Retry-After seconds.',
};

/** Maps any error to an error of the public server: what is only too much or too slow now becomes 503, any other error 500. */
export function imageProblemFrom(error: unknown): ImageProblem {
  return httpProblemFrom<ImageProblemCode>(error, UNAVAILABLE);
}

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
