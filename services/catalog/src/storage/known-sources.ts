import type { ClientSession, Collection } from 'mongodb';
import type { SourceDoc } from './collections.ts';

const READ_MS = 10_000;

/** The sources that the catalogue knows. A process remembers them, because sources are never deleted. */
export class KnownSources {
  readonly #sources: Collection<SourceDoc>;
  readonly #known = new Set<string>();

  constructor(sources: Collection<SourceDoc>) {
    this.#sources = sources;
  }

  /** Stores a source's name before its first record. */
  async register(source: string): Promise<void> {
    if (this.#known.has(source)) return;
    await this.#sources.updateOne({ _id: source }, { $setOnInsert: { _id: source } }, { upsert: true });
    this.#known.add(source);
  }

  /** Checks whether the catalogue knows no source but this one. Returns false if `source` is undefined. */
  async isOnly(source: string | undefined, session?: ClientSession): Promise<boolean> {
    if (source === undefined || [...this.#known].some((other) => other !== source)) return false;
    const options = { maxTimeMS: READ_MS, ...(session === undefined ? {} : { session }) };
    const other = await this.#sources.findOne({ _id: { $ne: source } }, options);
    if (other !== null) this.#known.add(other._id);
    return other === null;
  }
}
