import type { UsageEvent, UsageStream } from '@brand-data/contracts';
import { sentBy } from '@brand-data/metering/src/ledger/sender.ts';
import type {
  DeadLetterReason,
  UsageMessage,
  UsageMessages,
  UsageStreams,
} from '@brand-data/metering/src/usage/usage-streams.ts';
import type { JetStream } from './jetstream.ts';
import { NATS, type Reader } from './jetstream-consumer.ts';
import type { Process } from './machine.ts';
import type { Network } from './network.ts';

const ASK_WITHIN_MS = 2_000;
/** Heartbeats arrive every half second. After two missed ones the process pulls again. */
const SILENT_FOR_MS = 1_000;

export interface DeadLetter {
  event: UsageEvent | undefined;
  signer: string;
  reason: DeadLetterReason;
}

/** The usage streams as one process uses them over the network, with requests, pulls and heartbeats. */
export function connectUsageStreams(
  process: Process,
  network: Network,
  jetStreams: readonly JetStream[],
  deadLetters: Map<string, DeadLetter>,
): UsageStreams {
  const { clock, machine } = process;
  const of = ({ name }: Pick<UsageStream, 'name'>): JetStream => {
    const found = jetStreams.find((each) => each.name === name);
    if (!found) throw new Error(`there is no stream ${name}`);
    return found;
  };
  const tell = (arrive: () => void) =>
    network.send({ from: machine.name, to: NATS, sender: process, arrive });
  const ask = <Answer>(
    stream: Pick<UsageStream, 'name'>,
    answer: (jetStream: JetStream) => Answer | undefined,
  ) => of(stream).ask(process, ASK_WITHIN_MS, () => answer(of(stream)));

  const messageOf = (
    jetStream: JetStream,
    [sequence, deliveries, delivery]: Parameters<Reader['deliver']>,
  ): UsageMessage => {
    const stored = jetStream.log[sequence - 1];
    let isDone = false;
    const finish = (arrive: () => void) => {
      if (!isDone) tell(arrive);
      isDone = true;
    };
    const acknowledge = () => finish(() => jetStream.acknowledge(sequence));
    return {
      stream: jetStream.name,
      sequence,
      storedMs: stored?.storedMs ?? 0,
      deliveries,
      ...readStored(stored),
      ack: acknowledge,
      term: acknowledge,
      nak: (delayMs) => finish(() => jetStream.redeliverIn(delayMs, sequence, delivery)),
      working: () => {
        if (!isDone) tell(() => jetStream.working(sequence, delivery));
      },
    };
  };

  const take = (jetStream: JetStream): UsageMessages => {
    const waiting: UsageMessage[] = [];
    let wake = () => {};
    let isClosed = false;
    let heard = true;
    let isSilent = false;
    let silence = Promise.withResolvers<void>();
    const end = () => {
      isClosed = true;
      wake();
      silence.resolve();
    };
    const reader: Reader = {
      process,
      deliver: (...delivered) => {
        heard = true;
        waiting.push(messageOf(jetStream, delivered));
        wake();
      },
      gone: end,
    };
    const pull = () =>
      tell(() => {
        if (!isClosed) jetStream.pull(reader);
      });
    const keepPulling = async (): Promise<void> => {
      pull();
      while (!isClosed) {
        await clock.sleep(SILENT_FOR_MS);
        // Heartbeats arrive while the server has an unfinished pull of this process.
        const wasSilent = isSilent;
        isSilent = !heard && (!jetStream.isPulling(reader) || network.isCut(NATS, machine.name));
        if (wasSilent && !isSilent) silence = Promise.withResolvers();
        if (isSilent) {
          silence.resolve();
          pull();
        }
        heard = false;
      }
    };
    void keepPulling();
    return {
      untilSilent: () => silence.promise,
      close: () => {
        end();
        tell(() => jetStream.leave(reader));
      },
      async *[Symbol.asyncIterator]() {
        for (;;) {
          const next = waiting.shift();
          if (next) yield next;
          else if (isClosed) return;
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      },
    };
  };

  return {
    list: async () => [...jetStreams],
    open: async (stream) => {
      await ask(stream, () => true);
      return take(of(stream));
    },
    lastSequence: (stream) => ask(stream, ({ log }) => log.length),
    acknowledgedUpTo: (stream) => ask(stream, (jetStream) => jetStream.floor()),
    mark: (stream, holder) => of(stream).publish(process, { holder, usage: [] }, ASK_WITHIN_MS),
    deadLetter: async (message, reason) => {
      const { stream, sequence } = message;
      await ask({ name: stream }, ({ log }) => {
        const { event, signer = '' } = log[sequence - 1] ?? { event: undefined };
        deadLetters.set(`${stream}-${sequence}`, { event, signer, reason });
        return true;
      });
    },
    read: (stream, from, most) =>
      ask(stream, (jetStream) =>
        jetStream
          .read(from, most)
          ?.map((stored) => ({ sequence: stored.sequence, usage: readStored(stored).usage })),
      ),
    fill: (stream) =>
      ask(stream, ({ firstSequence, log, mostMessages }) => ({
        firstSequence,
        lastSequence: log.length,
        bytes: log.length + 1 - firstSequence,
        maxBytes: Number.isFinite(mostMessages) ? mostMessages : undefined,
      })),
    purge: (stream, firstKept) => ask(stream, (jetStream) => jetStream.purge(firstKept)),
  };
}

/** A signature is simulated by the signer's name, since nobody can make another holder's signature. */
function readStored(
  stored: Pick<JetStream['log'][number], 'event' | 'signer'> | undefined,
): Pick<UsageMessage, 'usage' | 'isForged'> {
  if (!stored?.event) return { usage: undefined, isForged: false };
  const { event, signer } = stored;
  const isForged = signer !== event.holder;
  return { usage: isForged ? undefined : sentBy(signer, event.usage), isForged };
}
