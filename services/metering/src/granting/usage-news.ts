import { randomUUID } from 'node:crypto';
import {
  toleranceOf,
  USAGE_NEWS_EVERY_MS,
  USAGE_NEWS_SUBJECT,
  type UsageNews,
  UsageNews as UsageNewsMessage,
} from '@brand-data/contracts';
import type { Nats } from '@brand-data/runtime';
import { type Ledger, ledgerIdOf, usedOf, usedPermitsOf } from '../ledger/ledger.ts';

const MOST_IN_MESSAGE = 500;
const MOST_GRANTS_IN_MESSAGE = 5_000;
/** NATS accepts no message over 1 MiB by default. */
const LARGEST_MESSAGE_BYTES = 512 * 1024;

/** Tells gateways how much accounts have used, so that the remaining calls that they tell their callers are true. */
export class UsageNewsSender {
  readonly #publish: (news: UsageNews) => void;
  readonly #series = randomUUID();
  #number = 0;
  /** The ledgers for the next message. */
  readonly #changed = new Map<string, Ledger>();
  /** The open grants of these ledgers. */
  #grants = 0;

  constructor(publish: (news: UsageNews) => void) {
    this.#publish = publish;
  }

  /** Call this after each change of a ledger. */
  changed(before: Ledger, after: Ledger): void {
    const step = Math.max(1, Math.floor(toleranceOf(after.limit) / 4));
    if (Math.floor(usedOf(before) / step) === Math.floor(usedOf(after) / step)) return;
    // Without open grants, no gateway listens.
    if (after.grants.length === 0) return;
    const id = ledgerIdOf(after);
    this.#grants += after.grants.length - (this.#changed.get(id)?.grants.length ?? 0);
    this.#changed.set(id, after);
    if (this.#changed.size >= MOST_IN_MESSAGE || this.#grants > MOST_GRANTS_IN_MESSAGE) this.send();
  }

  /** Call this every USAGE_NEWS_EVERY_MS, and with `last` when the process stops. */
  send(last = false): void {
    const accounts = [...this.#changed.values()].map(usedPermitsOf);
    this.#changed.clear();
    this.#grants = 0;
    this.#publish({ series: this.#series, number: this.#number++, last, accounts });
  }
}

/** Sends news until the service stops. If NATS is down or a message is too large, it is lost, and gateways notice that. */
export function sendUsageNews(
  service: { onStop(name: string, stop: () => void): void },
  { connection }: Pick<Nats, 'connection'>,
): UsageNewsSender {
  const sender = new UsageNewsSender((news) => {
    if (connection.isClosed() || connection.isDraining()) return;
    const message = UsageNewsMessage.encode(news).finish();
    if (message.length <= LARGEST_MESSAGE_BYTES) connection.publish(USAGE_NEWS_SUBJECT, message);
  });
  const sending = setInterval(() => sender.send(), USAGE_NEWS_EVERY_MS);
  service.onStop('news of usage', () => {
    clearInterval(sending);
    sender.send(true);
  });
  return sender;
}
