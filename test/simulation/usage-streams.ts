import { PARKED_USAGE, type UsageEvent, type UsageStream } from '@brand-data/contracts';
import { sentBy } from '@brand-data/metering/src/ledger/senders.ts';
import {
  ACK_WAIT_MS,
  type DeadLetterReason,
  type UsageMessage,
  type UsageMessages,
  type UsageStreams,
} from '@brand-data/metering/src/usage/usage-streams.ts';
import type { JetStream } from './jetstream.ts';
import { NATS, type Reader } from './jetstream-consumer.ts';
import type { Process, World } from './world.ts';

const ASK_WITHIN_MS = 2_000;
/** Heartbeats arrive every half second. After two missed ones the process pulls again. */
const SILENT_FOR_MS = 1_000;

export interface DeadLetter {
  event: UsageEvent | undefined;
  signer: string;
  reason: DeadLetterReason;
}

/** Returns the usage streams as one process uses them over the network, with requests, pulls and heartbeats. */
export function connectUsageStreams(
  process: Process,
  world: World,
  jetStreams: readonly JetStream[],
  deadLetters: Map<string, DeadLetter>,
): UsageStreams {
  const of = ({ name }: Pick<UsageStream, 'name'>): JetStream => {
    const found = jetStreams.find((each) => each.name === name);
    if (!found) throw new Error(`there is no stream ${name}`);
    return found;
  };
  const ask = <Answer>(
    stream: Pick<UsageStream, 'name'>,
    answer: (jetStream: JetStream) => Answer | undefined,
  ) => of(stream).ask(process, ASK_WITHIN_MS, () => answer(of(stream)));

  return {
    list: async () => [...jetStreams],
    open: async (stream) => {
      await ask(stream, () => true);
      return new Deliveries(process, world, of(stream));
    },
    lastSequence: (stream) => ask(stream, ({ log }) => log.length),
    acknowledgedUpTo: (stream) => ask(stream, (jetStream) => jetStream.floor()),
    mark: (stream, holder) => of(stream).publish(process, { holder, usage: [] }, ASK_WITHIN_MS),
    park: async ({ stream, sequence }) => {
      const event = of({ name: stream }).log[sequence - 1]?.event;
      await of(PARKED_USAGE).publish(process, event, ASK_WITHIN_MS, `${stream}-${sequence}`);
    },
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
    readParked: (from, most) =>
      ask(PARKED_USAGE, (jetStream) =>
        jetStream.read(from, most)?.map(({ sequence, event }) => ({
          sequence,
          grantIds: (event?.usage ?? []).map(({ grantId }) => grantId),
        })),
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

/** The deliveries of a stream to a process. */
class Deliveries implements UsageMessages {
  readonly #process: Process;
  readonly #world: World;
  readonly #jetStream: JetStream;
  readonly #reader: Reader;
  readonly #waiting: UsageMessage[] = [];
  #wake = () => {};
  #isClosed = false;
  #isHeard = true;
  #isSilent = false;
  #silence = Promise.withResolvers<void>();

  constructor(process: Process, world: World, jetStream: JetStream) {
    this.#process = process;
    this.#world = world;
    this.#jetStream = jetStream;
    this.#reader = {
      process,
      deliver: (...delivery) => {
        this.#isHeard = true;
        this.#waiting.push(this.#messageOf(...delivery));
        this.#wake();
      },
      gone: () => this.#end(),
    };
    void this.#keepPulling();
  }

  untilSilent(): Promise<void> {
    return this.#silence.promise;
  }

  close(): void {
    this.#end();
    this.#tell(() => this.#jetStream.consumer.leave(this.#reader));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<UsageMessage> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next) yield next;
      else if (this.#isClosed) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  #end(): void {
    this.#isClosed = true;
    this.#wake();
    this.#silence.resolve();
  }

  async #keepPulling(): Promise<void> {
    const { clock, machine } = this.#process;
    this.#pull();
    while (!this.#isClosed) {
      await clock.sleep(SILENT_FOR_MS);
      // Heartbeats arrive while the server has an unfinished pull of this process.
      const wasSilent = this.#isSilent;
      this.#isSilent =
        !this.#isHeard &&
        (!this.#jetStream.consumer.isPulling(this.#reader) || this.#world.isCut(NATS, machine.name));
      if (wasSilent && !this.#isSilent) this.#silence = Promise.withResolvers();
      if (this.#isSilent) {
        this.#silence.resolve();
        this.#pull();
      }
      this.#isHeard = false;
    }
  }

  #pull(): void {
    this.#tell(() => {
      if (!this.#isClosed) this.#jetStream.consumer.pull(this.#reader);
    });
  }

  #tell(arrive: () => void): void {
    const sender = this.#process;
    this.#world.send({ from: sender.machine.name, to: NATS, sender, arrive });
  }

  #messageOf(sequence: number, deliveries: number, delivery: number): UsageMessage {
    const { name, log, consumer } = this.#jetStream;
    const stored = log[sequence - 1];
    let isDone = false;
    const finish = (arrive: () => void) => {
      if (!isDone) this.#tell(arrive);
      isDone = true;
    };
    const acknowledge = () => finish(() => consumer.acknowledge(sequence));
    return {
      stream: name,
      sequence,
      storedMs: stored?.storedMs ?? 0,
      deliveries,
      ...readStored(stored),
      ack: acknowledge,
      term: acknowledge,
      nak: (delayMs) => finish(() => consumer.redeliverIn(delayMs, sequence, delivery)),
      working: () => {
        if (!isDone) this.#tell(() => consumer.redeliverIn(ACK_WAIT_MS, sequence, delivery));
      },
    };
  }
}

/** A signature is simulated by the signer's name, since no process can make another holder's signature. */
function readStored(
  stored: Pick<JetStream['log'][number], 'event' | 'signer'> | undefined,
): Pick<UsageMessage, 'usage' | 'isForged'> {
  if (!stored?.event) return { usage: undefined, isForged: false };
  const { event, signer } = stored;
  const isForged = signer !== event.holder;
  return { usage: isForged ? undefined : sentBy(signer, event.usage), isForged };
}
