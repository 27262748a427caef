import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { Registry } from 'prom-client';
import { Fault } from '../base/fault.ts';
import { type GrpcServer, startGrpcServer } from '../grpc/server.ts';
import type { Mongo } from '../mongo/connect.ts';
import { retryUntilStopped, type Service } from '../service/service.ts';

/**
 * The collection of the mark that a database is being restored. `bds restore` writes the mark before the first document, and the
 * service removes it when the restored data may be used. Neither a copy nor a restore touches this collection otherwise.
 */
export const RESTORING = 'restoring';

interface RestoringDoc {
  _id: 'restore';
  restoreId: string;
  /** Whether a replica of the service has begun to end the restore. */
  isEnding: boolean;
  /** What that replica answers. Only the mark remains to be removed. */
  answer?: object;
}

const LOOK_EVERY_MS = 500;
const NOT_UNDER_WAY =
  'this restore is not under way, or an earlier attempt to end it has failed: stop the services and restore again';
const WAS_RUNNING = 'this service was running when the restore began: stop all services and restore again';

function marks(db: Db) {
  // Without it, a primary that has just been elected may not see the mark yet.
  return db.collection<RestoringDoc>(RESTORING, { readConcern: { level: 'linearizable' } });
}

/** Marks the database as being restored, and returns the id of this restore. An earlier restore can then not be ended any more. */
export async function markRestoring(db: Db): Promise<string> {
  const restoreId = randomUUID();
  await marks(db).updateOne(
    { _id: 'restore' },
    { $set: { restoreId, isEnding: false }, $unset: { answer: '' } },
    { upsert: true, writeConcern: { w: 'majority', journal: true } },
  );
  return restoreId;
}

/**
 * Runs `end`, and then removes the mark. `end` runs only once for each restore, because it may have half an effect: if it fails, the
 * database has to be restored again. If only the removal fails, the same call can be repeated: it removes the mark, and resolves to
 * the same answer. Throws Fault `failed_precondition` if this restore is not under way, or was ended before.
 */
export async function endRestore<Answer extends object>(
  db: Db,
  restoreId: string,
  end: () => Promise<Answer>,
): Promise<Answer> {
  const mark = { _id: 'restore' as const, restoreId };
  const begins = await marks(db).findOneAndUpdate({ ...mark, isEnding: false }, { $set: { isEnding: true } });
  const before = begins ? undefined : await marks(db).findOne(mark);
  if (!begins && !before?.answer) throw new Fault('failed_precondition', NOT_UNDER_WAY);
  const answer = (before?.answer as Answer | undefined) ?? (await end());
  // Without the stored answer, which may be larger than a document can be, the call only cannot be repeated.
  await marks(db)
    .updateOne(mark, { $set: { answer } })
    .catch(() => {});
  await marks(db).drop();
  return answer;
}

/** Answers for a replica that has not found its database being restored when it started. */
export async function refuseRestore(): Promise<never> {
  throw new Fault('failed_precondition', WAS_RUNNING);
}

/**
 * Resolves when the database is not being restored. Until then serves only the admin port that `server` describes, and reports that
 * the service is ready, because Kubernetes sends no calls to a pod that is not. The service must not touch its database.
 */
export async function untilRestored(service: Service, { db }: Mongo, server?: GrpcServer): Promise<void> {
  const isRestoring = () =>
    retryUntilStopped('the mark of a restore', () => marks(db).findOne({ _id: 'restore' }), service);
  if (!(await isRestoring())) return;
  service.log.warn('the database is being restored: only bds restore is answered');
  const stops: (() => unknown)[] = [];
  const onStop: Service['onStop'] = (_what, stop) => stops.push(stop);
  const held: Service = { ...service, metrics: new Registry(), onStop };
  try {
    if (server !== undefined) {
      await startGrpcServer(held, { ...server, mayLastLong: true });
      service.readiness.open();
    }
    while (await isRestoring()) await delay(LOOK_EVERY_MS, undefined, { signal: service.signal });
  } catch (cause) {
    if (!service.signal.aborted) throw cause;
    throw new Error('the database is being restored', { cause });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
  service.log.info('the restore has ended');
}
