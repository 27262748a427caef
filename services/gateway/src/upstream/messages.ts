import { countBy, type Nats, type Service } from '@brand-data/runtime';

const KINDS = ['account_changes', 'catalog_changes', 'gateway_demand', 'recalls', 'usage_news'] as const;
type Kind = (typeof KINDS)[number];

/** Reads the messages that other services and gateways send, so that no message can end the process. */
export class Messages {
  readonly #connection: Pick<Nats['connection'], 'subscribe'>;
  readonly #countUnreadable: (kind: Kind) => void;

  constructor({ metrics }: Pick<Service, 'metrics'>, { connection }: Pick<Nats, 'connection'>) {
    this.#connection = connection;
    this.#countUnreadable = countBy(metrics, {
      name: 'gateway_unreadable_messages_total',
      help: 'Messages on NATS that the gateway dropped, because it could not read them or they were sent to another subject',
      label: 'kind',
      values: KINDS,
    });
  }

  /**
   * Handles each message at a subject of core NATS. Counts and drops a message that `decode` or `handle` throws for. Also counts and
   * drops a message whose own subject is another one: a consumer of a stream can be made to deliver the stream's messages at any
   * subject, even by a user who may not publish there.
   */
  follow<Message>(
    kind: Kind,
    subject: string,
    decode: (data: Uint8Array) => Message,
    handle: (message: Message) => void,
  ): void {
    this.#connection.subscribe(subject, {
      callback: (error, message) => {
        if (error) return;
        try {
          if (message.subject !== subject) throw new Error('sent to another subject');
          handle(decode(message.data));
        } catch {
          this.#countUnreadable(kind);
        }
      },
    });
  }

  /** Returns undefined and counts the message, if `decode` throws. */
  read<Message>(kind: Kind, decode: (data: Uint8Array) => Message, data: Uint8Array): Message | undefined {
    try {
      return decode(data);
    } catch {
      this.#countUnreadable(kind);
      return undefined;
    }
  }
}
