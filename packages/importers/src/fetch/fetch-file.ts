import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { BytesRead } from '../framework/source-items.ts';
import { causeOf, PassingProblem, type Requests, shownUrl } from './requests.ts';
import { digestOf, FetchProblem, StoredFile, type Validators } from './stored-file.ts';

/** A file to fetch. */
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
const ALGORITHMS: Readonly<Record<number, string>> = { 32: 'md5', 40: 'sha1', 64: 'sha256', 128: 'sha512' };

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
  let fruitless = 0;
  for (;;) {
    const before = (await part.state(url))?.size ?? 0;
    try {
      return await new Fetch(requests, wanted, bounds, part).run();
    } catch (error) {
      bounds.signal.throwIfAborted();
      if (!(error instanceof PassingProblem)) throw error;
      const isFruitful = ((await part.state(url))?.size ?? 0) > before;
      fruitless = isFruitful ? 0 : fruitless + 1;
      if (fruitless === MOST_FRUITLESS) throw error;
      const pauseMs = Math.max(FIRST_PAUSE_MS * 2 ** fruitless, error.afterMs);
      await delay(pauseMs, undefined, { signal: bounds.signal });
    }
  }
}

/** One attempt. */
class Fetch {
  readonly #requests: Requests;
  readonly #wanted: WantedFile;
  readonly #bounds: FetchBounds;
  readonly #part: StoredFile;
  readonly #whole: StoredFile;
  readonly #shown: string;

  constructor(requests: Requests, wanted: WantedFile, bounds: FetchBounds, part: StoredFile) {
    this.#requests = requests;
    this.#wanted = wanted;
    this.#bounds = bounds;
    this.#part = part;
    this.#whole = new StoredFile(wanted.path);
    this.#shown = shownUrl(new URL(wanted.url));
  }

  async run(): Promise<string> {
    const { url } = this.#wanted;
    const begun = await this.#part.state(url);
    const known = await this.#whole.state(url);
    const since = begun && validatorOf(begun);
    const headers =
      begun !== undefined && since !== undefined && begun.size > 0
        ? { range: `bytes=${begun.size}-`, 'if-range': since }
        : conditionsOf(known);
    const response = await this.#requests.get(url, headers, this.#bounds.signal);
    if (response.status === 304 && known?.digest !== undefined) return known.digest;
    if (response.status === 304 || response.status === 416) {
      await response.body?.cancel();
      await this.#part.remove();
      throw new PassingProblem(`${this.#shown} answers with status ${response.status}`);
    }
    const sent = {
      url,
      etag: response.headers.get('etag') ?? undefined,
      lastModified: response.headers.get('last-modified') ?? undefined,
    };
    const isRest = response.status === 206;
    if (isRest && !isOfVersion(sent, begun)) await this.#dropPart(response);
    // A rest may come without the validators of the whole.
    const validators = isRest && begun ? { url, etag: begun.etag, lastModified: begun.lastModified } : sent;
    await this.#take(response, isRest ? (begun?.size ?? 0) : 0, validators);
    return this.#finish(validators);
  }

  /** Writes what arrives behind the first `size` bytes. */
  async #take(response: Response, start: number, validators: Validators): Promise<void> {
    const { mostBytes, progress, signal } = this.#bounds;
    const total = await this.#totalOf(response, start);
    const tooLarge = `${this.#shown} has more than ${mostBytes.toLocaleString('en-US')} bytes: check it, and raise bounds.bytes`;
    if (total !== undefined && total > mostBytes) {
      await response.body?.cancel();
      throw new FetchProblem(tooLarge);
    }
    if (start === 0) await this.#part.remove();
    await using handle = await open(this.#part.path, start === 0 ? 'w' : 'a');
    // A server counts lengths and ranges in what it has compressed, and not in what arrives here.
    await this.#part.note(isCompressed(response) ? { url: validators.url } : validators);
    let size = start;
    Object.assign(progress, { read: size, total: total ?? 0 });
    for await (const chunk of this.#chunksOf(response, size)) {
      if (size === 0 && PAGE.test(Buffer.from(chunk.subarray(0, 1_024)).toString('latin1')))
        throw await this.#refused('sends a page (HTML) in place of data: look at it in a browser');
      size += chunk.length;
      if (size > mostBytes) throw await this.#refused('', tooLarge);
      await handle.writeFile(chunk);
      progress.read = size;
    }
    signal.throwIfAborted();
    if (size === 0) throw await this.#refused('sends nothing');
    if (total !== undefined && size !== total)
      throw new PassingProblem(`${this.#shown} ended after ${size} of ${total} bytes`);
    await handle.sync();
  }

  /** Yields what arrives. A connection that ends early is a passing problem. */
  async *#chunksOf({ body }: Response, start: number): AsyncGenerator<Uint8Array> {
    let size = start;
    try {
      for await (const chunk of body ?? []) {
        size += chunk.length;
        yield chunk;
      }
    } catch (error) {
      this.#bounds.signal.throwIfAborted();
      throw new PassingProblem(`${this.#shown} broke off after ${size} bytes (${causeOf(error)})`);
    }
  }

  /** Resolves to the length of the whole file, if the server tells it. */
  async #totalOf(response: Response, start: number): Promise<number | undefined> {
    const { status, headers } = response;
    const length = headers.get('content-length');
    if (status === 200) return length === null || isCompressed(response) ? undefined : Number(length);
    const [, first, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
    if (Number(first) === start) return total === '*' ? undefined : Number(total);
    return this.#dropPart(response);
  }

  /** Begins again, after an answer that does not continue what has arrived. */
  async #dropPart({ body }: Response): Promise<never> {
    await body?.cancel();
    await this.#part.remove();
    throw new PassingProblem(`${this.#shown} sends another part than it was asked for`);
  }

  /** Checks the whole file, and puts it into its place. */
  async #finish(validators: Validators): Promise<string> {
    const { path } = this.#part;
    const digest = await digestOf(path, 'sha256');
    const published = await this.#publishedChecksum();
    if (published !== undefined) {
      const found =
        published.length === 64 ? digest : await digestOf(path, ALGORITHMS[published.length] ?? 'sha256');
      if (found !== published)
        throw await this.#refused(`has the checksum ${found}, but its publisher states ${published}`);
    }
    await this.#whole.replaceBy(this.#part, { ...validators, bytes: this.#bounds.progress.read, digest });
    return digest;
  }

  /** Reads the file's line in a list of checksums, or the only checksum. */
  async #publishedChecksum(): Promise<string | undefined> {
    const { checksum, url } = this.#wanted;
    if (checksum === undefined) return undefined;
    const response = await this.#requests.get(checksum, {}, this.#bounds.signal);
    let text = '';
    for await (const chunk of this.#chunksOf(response, 0)) {
      text += Buffer.from(chunk).toString('latin1');
      if (text.length > MOST_CHECKSUM_BYTES) break;
    }
    const lines = text.split('\n').filter((line) => /\b[0-9a-f]{32,128}\b/i.test(line));
    const name = new URL(url).pathname.split('/').at(-1) ?? '';
    const line = lines.length === 1 ? lines[0] : lines.find((each) => each.split(/[\s*]+/).includes(name));
    const found = /\b(?:[0-9a-f]{128}|[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b/i.exec(line ?? '')?.[0];
    if (found === undefined)
      throw new FetchProblem(`${shownUrl(new URL(checksum))} states no checksum of ${name}`);
    return found.toLowerCase();
  }

  /** Removes what arrived, because more of it would be no better. */
  async #refused(what: string, message = `${this.#shown} ${what}`): Promise<FetchProblem> {
    await this.#part.remove();
    return new FetchProblem(message);
  }
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
