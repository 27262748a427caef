import { BSON, type Db, type Document } from 'mongodb';
import { bsonDocuments } from './bson-documents.ts';
import { readCopied } from './copied-file.ts';
import type { CopiedCollection, CopiedDatabase } from './manifest.ts';

const MOST_AT_ONCE = { documents: 1_000, bytes: 8 * 1024 ** 2 };

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
    for await (const batch of batchesOf(folder, copied)) {
      signal.throwIfAborted();
      await db.collection(copied.name).insertMany(batch, { ordered: false });
      for (const _ of batch) onDocument(copied.name);
    }
  }
}

async function* batchesOf(folder: string, copied: CopiedCollection): AsyncGenerator<Document[]> {
  let batch: Document[] = [];
  let bytes = 0;
  for await (const document of bsonDocuments(readCopied(folder, copied))) {
    batch.push(BSON.deserialize(document, AS_STORED));
    bytes += document.length;
    if (batch.length < MOST_AT_ONCE.documents && bytes < MOST_AT_ONCE.bytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}
