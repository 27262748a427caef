import { inBatches } from '@brand-data/runtime';
import { BSON, type Db } from 'mongodb';
import { type CopiedDatabase, readCopied } from './copied-files.ts';

const LENGTH_BYTES = 4;
const AT_ONCE = { items: 1_000, bytes: 8 * 1024 ** 2, bytesOf: (document: Uint8Array) => document.length };

/** Keeps every value in the type that it has in the file, such as a 64-bit integer or a double without a fraction. */
const AS_STORED = {
  promoteValues: false,
  promoteBuffers: false,
  promoteLongs: false,
  bsonRegExp: true,
} as const;

/** Writes a copied database into an empty one, first its indexes as they were. */
export async function restoreDatabase(
  db: Db,
  folder: string,
  { collections }: CopiedDatabase,
  { signal, onDocument }: { signal: AbortSignal; onDocument: (collection: string) => void },
): Promise<void> {
  for (const copied of collections) {
    await db.createCollection(copied.name);
    if (copied.indexes.length > 0)
      await db.command({
        createIndexes: copied.name,
        indexes: copied.indexes,
        writeConcern: { w: 'majority' },
      });
    for await (const batch of inBatches(bsonDocuments(readCopied(folder, copied)), AT_ONCE)) {
      signal.throwIfAborted();
      const documents = batch.map((document) => BSON.deserialize(document, AS_STORED));
      await db.collection(copied.name).insertMany(documents, { ordered: false });
      for (const _ of batch) onDocument(copied.name);
    }
  }
}

/** Splits a file of BSON documents, one behind the other, into the documents. */
async function* bsonDocuments(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let at = 0;
    while (rest.length - at >= LENGTH_BYTES) {
      const length = rest.readInt32LE(at);
      if (rest.length - at < length) break;
      yield rest.subarray(at, at + length);
      at += length;
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0) throw new Error('the file ends inside a document');
}
