import type { UsageStream } from '@brand-data/contracts';
import type { SentUsage } from '../ledger/senders.ts';

/**
 * The operations on usage streams that metering needs. The interface is small so that the same code runs on NATS and in the
 * simulation. Each method makes one attempt, and rejects if it gets no answer in time.
 */
export interface UsageStreams {
  /**
   * PARKED_USAGE, the streams that this replica's settings name, and all other usage streams that exist, because gateways whose
   * settings differ may publish to them.
   */
  list(): Promise<UsageStream[]>;
  /**
   * Creates the stream and its only consumer if they do not exist, and takes messages from it. All replicas share the consumer.
   */
  open(stream: UsageStream): Promise<UsageMessages>;
  lastSequence(stream: UsageStream): Promise<number>;
  /** Replicas have acknowledged all messages up to this sequence. The answer may be too low, never too high. */
  acknowledgedUpTo(stream: UsageStream): Promise<number>;
  /** Appends a marker, which is an event without usage. Resolves to its sequence once it is stored. */
  mark(stream: UsageStream, holder: string): Promise<number>;
  /** Stores a copy of the message in PARKED_USAGE, once in ten minutes however often it is called. */
  park(message: UsageMessage): Promise<void>;
  /** Stores a copy of the message among the dead letters, only once however often it is called. */
  deadLetter(message: UsageMessage, reason: DeadLetterReason): Promise<void>;
  /** Messages from this sequence on, in order. Any copy of the stream may answer, and it may lack the latest messages. */
  read(stream: UsageStream, from: number, most: number): Promise<StoredUsage[]>;
  /** Like `read` of PARKED_USAGE, but quicker: the grants that the messages name, whoever has sent them. */
  readParked(from: number, most: number): Promise<ParkedUsage[]>;
  fill(stream: UsageStream): Promise<StreamFill>;
  /** Removes all messages before this sequence. Resolves to how many it removed. */
  purge(stream: UsageStream, firstKept: number): Promise<number>;
}

/**
 * `unreadable`: the message is not a valid usage event, contradicts itself, or reports more permits than its grant has.
 * `unknown_grant`: as far as metering can know, no ledger has given out its grant. `forged`: the signature is not that of the
 * holder that the message names. `foreign_grant`: the message is about a grant of another holder, or guesses a grant's id.
 */
export type DeadLetterReason = 'unreadable' | 'unknown_grant' | 'forged' | 'foreign_grant';

interface StreamFill {
  firstSequence: number;
  lastSequence: number;
  bytes: number;
  /** undefined: the stream's size is not limited. */
  maxBytes: number | undefined;
}

/** Deliveries to this process. They end once they are closed. If the consumer no longer exists, they end or throw. */
export interface UsageMessages extends AsyncIterable<UsageMessage> {
  /**
   * Resolves once nothing, not even a heartbeat, has arrived for a second: the consumer may have lost its leader. Resolves at
   * the end of the deliveries too.
   */
  untilSilent(): Promise<void>;
  close(): void;
}

/** A message in a stream. `usage` is undefined if it is not a usage event. */
export type StoredUsage = Pick<UsageMessage, 'sequence' | 'usage'>;

export interface ParkedUsage extends Pick<UsageMessage, 'sequence'> {
  grantIds: readonly string[];
}

/** One delivery. If it is not acknowledged within `ACK_WAIT_MS`, the message is delivered again, to any replica. */
export interface UsageMessage {
  readonly stream: string;
  readonly sequence: number;
  /** When the stream stored it, in milliseconds since 1970, by the stream's wall clock. */
  readonly storedMs: number;
  /** How often the message was delivered, this delivery included. */
  readonly deliveries: number;
  /** undefined: it is not a usage event of this product, or it is forged. */
  readonly usage: readonly SentUsage[] | undefined;
  /** The signature is not that of the holder that the message names. */
  readonly isForged: boolean;
  ack(): void;
  /** Makes the stream deliver the message again after this time. */
  nak(delayMs: number): void;
  /** Tells the stream that the message is still being worked on: `ACK_WAIT_MS` starts again. */
  working(): void;
  /** Makes the stream never deliver the message again. */
  term(reason: string): void;
}

/**
 * If a replica is killed, or a consumer loses its leader, the stream delivers the unacknowledged messages again after this time.
 */
export const ACK_WAIT_MS = 2_000;
export const MESSAGES_AT_ONCE = 500;
/** How many messages may be delivered to all replicas together without being acknowledged. */
export const MOST_ON_THE_WAY = 4 * MESSAGES_AT_ONCE;
