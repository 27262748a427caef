import { open } from 'node:fs/promises';
import type { BytesRead } from '../framework/source-items.ts';
import { causeOf, PassingProblem, type Requests, shownUrl } from './requests.ts';
import { digestOf, FetchProblem, StoredFile, type Validators } from './stored-file.ts';

export interface WantedFile {
  url: string;
  /** Where it will stand. Beside it stand its state and, until it is whole, its beginning. */
  path: string;
  /** URL of a file with the checksum that the publisher states: MD5, SHA-1, SHA-256 or SHA-512, in hexadecimal. */
  checksum?: string | undefined;
}

export interface FetchBounds {
  mostBytes: number;
  /** Ends the fetch. What has arrived stays, and a later fetch goes on there. */
  signal: AbortSignal;
  progress: BytesRead;
}

/** How many requests in a row may bring nothing. */
const MOST_FRUITLESS = 9;
/** Doubled after each fruitless request, so that all of them take two minutes. */
const FIRST_PAUSE_MS = 200;
const MOST_CHECKSUM_BYTES = 1 << 20;
const PAGE = /^\s*(?:<!doctype html|<html)/i;
const CHECKSUM = /\b(?:[0-9a-f]{128}|[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b/i;
const ALGORITHMS: Readonly<Record<number, string>> = { 32: 'md5', 40: 'sha1', 64: 'sha256', 128: 'sha512' };

interface Fetching extends WantedFile, FetchBounds {
  requests: Requests;
  part: StoredFile;
  whole: StoredFile;
  /** The URL without its query. */
  shown: string;
}

/**
 * Brings a file up to date, and resolves to its SHA-256. The file is replaced at once, and only by one that is whole. A fetch that
 * broke off goes on where it ended, unless the server has another version since. Rejects with a FetchProblem, or with the reason of
 * the signal.
 */
export async function fetchFile(
  requests: Requests,
  wanted: WantedFile,
  bounds: FetchBounds,
): Promise<string> {
  const { url, path } = wanted;
  const part = new StoredFile(`${path}.part`);
  const shown = shownUrl(new URL(url));
  const fetching = { ...wanted, ...bounds, requests, part, whole: new StoredFile(path), shown };
  for (let fruitless = 0; ; ) {
    const before = (await part.state(url))?.size ?? 0;
    try {
      return await attempt(fetching);
    } catch (error) {
      bounds.signal.throwIfAborted();
      if (!(error instanceof PassingProblem)) throw error;
      const isFruitful = ((await part.state(url))?.size ?? 0) > before;
      fruitless = isFruitful ? 0 : fruitless + 1;
      if (fruitless === MOST_FRUITLESS) throw error;
      await requests.wait(Math.max(FIRST_PAUSE_MS * 2 ** fruitless, error.afterMs), bounds.signal);
    }
  }
}

async function attempt(fetching: Fetching): Promise<string> {
  const { requests, url, part, whole, signal } = fetching;
  const begun = await part.state(url);
  const known = await whole.state(url);
  const since = begun && validatorOf(begun);
  const headers =
    begun !== undefined && since !== undefined && begun.size > 0
      ? { range: `bytes=${begun.size}-`, 'if-range': since }
      : conditionsOf(known);
  const response = await requests.get(url, headers, signal);
  if (response.status === 304 && known?.digest !== undefined) return known.digest;
  if (response.status === 304 || response.status === 416)
    return await beginAgain(fetching, response, `answers with status ${response.status}`);
  const sent = {
    url,
    etag: response.headers.get('etag') ?? undefined,
    lastModified: response.headers.get('last-modified') ?? undefined,
  };
  const rest = response.status === 206 ? begun : undefined;
  const start = rest?.size ?? 0;
  const total = totalOf(response, start);
  if (total === 'other' || (rest && !isOfVersion(sent, rest)))
    return await beginAgain(fetching, response, 'sends another part than it was asked for');
  // A rest may come without the validators of the whole.
  const validators = rest ? { url, etag: rest.etag, lastModified: rest.lastModified } : sent;
  await take(fetching, response, start, total, validators);
  return finish(fetching, validators);
}

/** Writes what arrives behind the first `start` bytes. */
async function take(
  fetching: Fetching,
  response: Response,
  start: number,
  total: number | undefined,
  validators: Validators,
): Promise<void> {
  const { mostBytes, progress, signal, part, shown } = fetching;
  const tooLarge = `${shown} has more than ${mostBytes.toLocaleString('en-US')} bytes: check it, and raise bounds.bytes`;
  if (total !== undefined && total > mostBytes) {
    await response.body?.cancel();
    throw new FetchProblem(tooLarge);
  }
  if (start === 0) await part.remove();
  await using handle = await open(part.path, start === 0 ? 'w' : 'a');
  // A server counts lengths and ranges in what it has compressed, and not in what arrives here.
  await part.note(isCompressed(response) ? { url: validators.url } : validators);
  let size = start;
  Object.assign(progress, { read: size, total: total ?? 0 });
  for await (const chunk of chunksOf(fetching, response, size)) {
    if (size === 0 && PAGE.test(Buffer.from(chunk.subarray(0, 1_024)).toString('latin1')))
      throw await refused(part, `${shown} sends a page (HTML) in place of data: look at it in a browser`);
    size += chunk.length;
    if (size > mostBytes) throw await refused(part, tooLarge);
    await handle.writeFile(chunk);
    progress.read = size;
  }
  signal.throwIfAborted();
  if (size === 0) throw await refused(part, `${shown} sends nothing`);
  if (total !== undefined && size !== total)
    throw new PassingProblem(`${shown} ended after ${size} of ${total} bytes`);
  await handle.sync();
}

/** Yields what arrives. A connection that ends early is a passing problem. */
async function* chunksOf(
  { shown, signal }: Fetching,
  { body }: Response,
  start: number,
): AsyncGenerator<Uint8Array> {
  let size = start;
  try {
    for await (const chunk of body ?? []) {
      size += chunk.length;
      yield chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new PassingProblem(`${shown} broke off after ${size} bytes (${causeOf(error)})`);
  }
}

/** Returns the length of the whole file, if the server tells it, or `other` if the answer is not the rest that was asked for. */
function totalOf(response: Response, start: number): number | 'other' | undefined {
  const { status, headers } = response;
  const length = headers.get('content-length');
  if (status === 200) return length === null || isCompressed(response) ? undefined : Number(length);
  const [, first, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
  if (Number(first) !== start) return 'other';
  return total === '*' ? undefined : Number(total);
}

/** Begins again, after an answer that does not continue what has arrived. */
async function beginAgain({ part, shown }: Fetching, { body }: Response, why: string): Promise<never> {
  await body?.cancel();
  await part.remove();
  throw new PassingProblem(`${shown} ${why}`);
}

/** Checks the whole file, and puts it into its place. */
async function finish(fetching: Fetching, validators: Validators): Promise<string> {
  const { part, whole, shown, progress } = fetching;
  const digest = await digestOf(part.path, 'sha256');
  const published = await publishedChecksum(fetching);
  if (published !== undefined) {
    const algorithm = ALGORITHMS[published.length] ?? 'sha256';
    const found = algorithm === 'sha256' ? digest : await digestOf(part.path, algorithm);
    if (found !== published)
      throw await refused(part, `${shown} has the checksum ${found}, but its publisher states ${published}`);
  }
  await whole.replaceBy(part, { ...validators, bytes: progress.read, digest });
  return digest;
}

/** Reads the file's line in a list of checksums, or the only checksum. */
async function publishedChecksum(fetching: Fetching): Promise<string | undefined> {
  const { checksum, url, requests, signal } = fetching;
  if (checksum === undefined) return undefined;
  const response = await requests.get(checksum, {}, signal);
  let text = '';
  for await (const chunk of chunksOf(fetching, response, 0)) {
    text += Buffer.from(chunk).toString('latin1');
    if (text.length > MOST_CHECKSUM_BYTES) break;
  }
  const lines = text.split('\n').filter((line) => CHECKSUM.test(line));
  const name = new URL(url).pathname.split('/').at(-1) ?? '';
  const line = lines.length === 1 ? lines[0] : lines.find((each) => each.split(/[\s*]+/).includes(name));
  const [found] = CHECKSUM.exec(line ?? '') ?? [];
  if (found === undefined)
    throw new FetchProblem(`${shownUrl(new URL(checksum))} states no checksum of ${name}`);
  return found.toLowerCase();
}

/** Removes what arrived, because more of it would be no better. */
async function refused(part: StoredFile, message: string): Promise<FetchProblem> {
  await part.remove();
  return new FetchProblem(message);
}

/** Checks whether the server compresses a file for the way, although it was asked not to. */
function isCompressed({ headers }: Response): boolean {
  return !/^(?:identity)?$/i.test(headers.get('content-encoding') ?? '');
}

/** Returns what proves that a beginning and a rest are of one version. A weak ETag does not. */
function validatorOf({ etag, lastModified }: Validators): string | undefined {
  return etag === undefined || etag.startsWith('W/') ? lastModified : etag;
}

/** Checks whether a rest is of the version that has begun. A server may send one of another although it was asked not to. */
function isOfVersion(rest: Validators, begun: Validators | undefined): boolean {
  const agrees = (name: 'etag' | 'lastModified') =>
    rest[name] === undefined || begun?.[name] === undefined || rest[name] === begun[name];
  return agrees('etag') && agrees('lastModified');
}

function conditionsOf(known: Validators | undefined): Record<string, string> {
  return {
    ...(known?.etag !== undefined && { 'if-none-match': known.etag }),
    ...(known?.lastModified !== undefined && { 'if-modified-since': known.lastModified }),
  };
}
