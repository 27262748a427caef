import type { GrantUsage, UsageStream } from '@brand-data/contracts';

/**
 * The usage streams as metering needs them, and no more: what is decided on them runs on NATS and in the simulation alike.
 * Each method is one attempt, and rejects when it has no answer in time.
 */
export interface UsageStreams {
  /** Those that are to be, and those that are there beyond: gateways may still, or already, publish to them. */
  list(): Promise<UsageStream[]>;
  /** Makes the stream and its one shared consumer when they are not there, and takes messages from it. */
  open(stream: UsageStream): Promise<UsageMessages>;
  /** The sequence of the last message in it. */
  lastSequence(stream: UsageStream): Promise<number>;
  /** All messages up to this sequence are acknowledged, by whichever replica. May be behind, never ahead. */
  acknowledgedUpTo(stream: UsageStream): Promise<number>;
  /** Puts a marker, an event without usage, behind all that is in the stream; resolves to its sequence once it is stored. */
  mark(stream: UsageStream, holder: string): Promise<number>;
  /** Puts a copy of the message among the dead letters: once, however often it is called. */
  deadLetter(message: UsageMessage, reason: DeadLetterReason): Promise<void>;
  /** What lies in it from this sequence on, in order, by whichever copy answers: it may lack the latest. */
  read(stream: UsageStream, from: number, most: number): Promise<StoredUsage[]>;
  fill(stream: UsageStream): Promise<StreamFill>;
  /** Takes out all before this sequence; resolves to how many went. */
  purge(stream: UsageStream, firstKept: number): Promise<number>;
}

/** `unreadable`: it makes no sense; `unknown_grant`: it is of a grant that was never given, as far as can be known. */
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

/** A message as it lies in a stream; `usage` undefined: it is no usage event. */
export type StoredUsage = Pick<UsageMessage, 'sequence' | 'usage'>;

/** One delivery. Not acknowledged in `ACK_WAIT_MS` it comes again, to this replica or to another. */
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
  /** It comes again after this time. */
  nak(delayMs: number): void;
  /** It is still being worked on: its time begins anew. */
  working(): void;
  /** It never comes again. */
  term(reason: string): void;
}

/** What a killed replica, or a lost leader, had on the way is delivered again this much later. */
export const ACK_WAIT_MS = 2_000;
export const MESSAGES_AT_ONCE = 500;
/** Delivered to all replicas together, and not acknowledged. */
export const MOST_ON_THE_WAY = 4 * MESSAGES_AT_ONCE;
