import {
  MongoError,
  MongoNetworkError,
  MongoOperationTimeoutError,
  MongoServerSelectionError,
} from 'mongodb';
import { Fault } from '../base/fault.ts';

/**
 * Sets one deadline for a whole operation, which the driver cannot do. Rejects with Fault `unavailable` and the message `detail`
 * if the operation takes longer or the database cannot be reached. The operation may still complete later.
 */
export function answerWithin<T>(
  answer: Promise<T>,
  { withinMs, detail }: { withinMs: number; detail: string },
): Promise<T> {
  const unavailable = (cause?: unknown) => new Fault('unavailable', detail, { cause });
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(unavailable()), withinMs);
    answer
      .then(resolve, (error: unknown) => reject(isOutOfReach(error) ? unavailable(error) : error))
      .finally(() => clearTimeout(late));
  });
}

function isOutOfReach(error: unknown): boolean {
  if (!(error instanceof MongoError)) return false;
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoOperationTimeoutError ||
    error.name === 'MongoWaitQueueTimeoutError' ||
    OUT_OF_REACH.has(Number(error.code)) ||
    LABELS.some((label) => error.hasErrorLabel(label))
  );
}

const LABELS = ['TransientTransactionError', 'UnknownTransactionCommitResult', 'RetryableWriteError'];
/**
 * The error codes of servers that are too slow or stopping, or whose replica set is electing a primary, in this order:
 * MaxTimeMSExpired, ExceededTimeLimit; HostUnreachable, HostNotFound, NetworkTimeout, SocketException; ShutdownInProgress,
 * InterruptedAtShutdown; PrimarySteppedDown, NotWritablePrimary and three like it; WriteConcernFailed (64),
 * ReadConcernMajorityNotAvailableYet (134) and two like them.
 */
const OUT_OF_REACH: ReadonlySet<number> = new Set([
  50, 262, 6, 7, 89, 9001, 91, 11_600, 189, 10_107, 11_602, 13_435, 13_436, 64, 134, 187, 246,
]);
