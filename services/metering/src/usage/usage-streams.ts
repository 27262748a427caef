import type { GrantUsage, UsageStream } from '@brand-data/contracts';

/**
 * The usage streams as metering needs them, and no more, so that its decisions run on NATS and in the simulation alike.
 * Each method is one attempt, and rejects when it has no answer in time.
 */
export interface UsageStreams {
  /** The streams of this number, and those beyond it that exist: gateways may still, or already, publish to them. */
  list(): Promise<UsageStream[]>;
  /** Makes the stream and its one shared consumer when they are not there, and takes messages from it. */
  open(stream: UsageStream): Promise<UsageMessages>;
  /** The sequence of the last message in it. */
  lastSequence(stream: UsageStream): Promise<number>;
  /** All messages up to this sequence are acknowledged, by whichever replica. May be behind, never ahead. */
  acknowledgedUpTo(stream: UsageStream): Promise<number>;
  /** Puts a marker, an event without usage, at the stream's end; resolves to its sequence once it is stored. */
  mark(stream: UsageStream, holder: string): Promise<number>;
  /** Puts a copy of the message among the dead letters: once, however often it is called. */
  deadLetter(message: UsageMessage, reason: DeadLetterReason): Promise<void>;
  /** Messages from this sequence on, in order. Any copy may answer, and lack the latest. */
  read(stream: UsageStream, from: number, most: number): Promise<StoredUsage[]>;
  fill(stream: UsageStream): Promise<StreamFill>;
  /** Removes all messages before this sequence; resolves to their number. */
  purge(stream: UsageStream, firstKept: number): Promise<number>;
}

/** `unreadable`: it is no valid usage event; `unknown_grant`: no ledger is known to have given its grant out. */
export type DeadLetterReason = 'unreadable' | 'unknown_grant';

interface StreamFill {
  firstSequence: number;
  lastSequence: number;
  bytes: number;
  /** undefined: it has no bound. */
  maxBytes: number | undefined;
}

/** Deliveries to this process. Ends, or throws, when the consumer is gone; ends once it is closed. */
export interface UsageMessages extends AsyncIterable<UsageMessage> {
  /**
   * Resolves while nothing has come for a second, not even a heartbeat: the consumer may have lost its leader. At the end of
   * the deliveries as well.
   */
  untilSilent(): Promise<void>;
  close(): void;
}

/** A message in a stream; `usage` undefined: it is no usage event. */
export type StoredUsage = Pick<UsageMessage, 'sequence' | 'usage'>;

/** One delivery. Unless it is acknowledged in `ACK_WAIT_MS`, the message is delivered again, to any replica. */
export interface UsageMessage {
  readonly stream: string;
  readonly sequence: number;
  /** When the stream stored it, by the stream's wall clock, since 1970. */
  readonly storedMs: number;
  /** 1 at the first. */
  readonly deliveries: number;
  /** undefined: it is no usage event of this product. */
  readonly usage: readonly GrantUsage[] | undefined;
  ack(): void;
  /** The message is delivered again after this time. */
  nak(delayMs: number): void;
  /** The message is still being worked on: its time begins anew. */
  working(): void;
  /** The message is never delivered again. */
  term(reason: string): void;
}

/** Messages with a killed replica, or of a lost leader, are delivered again this much later. */
export const ACK_WAIT_MS = 2_000;
export const MESSAGES_AT_ONCE = 500;
/** Delivered to all replicas together, and not acknowledged. */
export const MOST_ON_THE_WAY = 4 * MESSAGES_AT_ONCE;
