import { randomUUID } from 'node:crypto';
import type { Brand, CatalogAdminServiceClient } from '@brand-data/contracts';
import type { AdminPort } from '../connection.ts';

const BATCH = 200;
const IN_FLIGHT = 2;
const PUT_MS = 30_000;
const FINISH_MS = 120_000;

/** What was read: a brand, or why it is none. `from` is its id, or its place where it has none. */
export type ReadBrand = { from: string; brand: Brand } | { from: string; problem: string };

export interface ImportSummary {
  source: string;
  importId: string;
  read: number;
  created: number;
  changed: number;
  unchanged: number;
  refused: { id: string; reason: string }[];
  /** Records that the source no longer has, and so were taken back; absent: it was not asked for, or not done. */
  pruned?: number;
}

export interface ImportOptions {
  source: string;
  /** Take back what the source contributed before and no longer has; not done when anything is refused. */
  prune: boolean;
  onProgress: (summary: Readonly<ImportSummary>) => void;
}

/**
 * Puts a source's brands, in batches, and finishes the import. May be run again at any time, and after a failure: what
 * is there already stays unchanged.
 */
export async function runImport(
  catalog: AdminPort<CatalogAdminServiceClient>,
  brands: AsyncIterable<ReadBrand>,
  { source, prune, onProgress }: ImportOptions,
): Promise<ImportSummary> {
  const importId = `${new Date().toISOString()}-${randomUUID().slice(0, 8)}`;
  const summary: ImportSummary = {
    source,
    importId,
    read: 0,
    created: 0,
    changed: 0,
    unchanged: 0,
    refused: [],
  };
  const refuse = (id: string, reason: string) => summary.refused.push({ id, reason });

  async function put(batch: Brand[]): Promise<void> {
    const answer = await catalog.call(
      (client) => client.putBrands,
      { source, importId, brands: batch },
      PUT_MS,
    );
    summary.created += answer.created;
    summary.changed += answer.changed;
    summary.unchanged += answer.unchanged;
    for (const { index, reason } of answer.refused) refuse(batch[index]?.id ?? `batch[${index}]`, reason);
    onProgress(summary);
  }

  const batches = batchesOf(brands, {
    onRead: () => summary.read++,
    onProblem: refuse,
  });
  const senders = Array.from({ length: IN_FLIGHT }, async () => {
    for await (const batch of batches) await put(batch);
  });
  await Promise.all(senders);

  const complete = summary.refused.length === 0;
  const { pruned } = await catalog.call(
    (client) => client.finishImport,
    { source, importId, prune: prune && complete },
    FINISH_MS,
  );
  return prune && complete ? { ...summary, pruned } : summary;
}

async function* batchesOf(
  brands: AsyncIterable<ReadBrand>,
  { onRead, onProblem }: { onRead: () => void; onProblem: (id: string, reason: string) => void },
): AsyncGenerator<Brand[]> {
  const seen = new Set<string>();
  let batch: Brand[] = [];
  for await (const read of brands) {
    onRead();
    if ('problem' in read) {
      onProblem(read.from, read.problem);
    } else if (seen.has(read.brand.id)) {
      onProblem(read.brand.id, 'there is another record of this id: give each its own');
    } else {
      seen.add(read.brand.id);
      batch.push(read.brand);
    }
    if (batch.length === BATCH) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
