import { AccountChanged, accountChangesSubject } from '@brand-data/contracts';
import { Fault, type Nats, type Service } from '@brand-data/runtime';
import type { Database } from './database.ts';

const SENT_WITHIN_MS = 5_000;
const SWEEP_MS = 5_000;
const PUBLISH_WITHIN_MS = 2_000;
const BATCH = 100;
/** A restore of a copy from before the deletion of an account has to learn of the deletion, however old the copy is. */
const KEPT_FOR_EVER = { headers: { 'Nats-TTL': 'never' } };
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Sends the notices of committed changes to the gateways, in the order of their revisions, until the stop. It sends at once when
 * `confirm` is called. Every few seconds it also sends notices that crashed replicas left behind. Several replicas may send the
 * same notice. This is harmless: the message id is the revision, and a notice only says "verify again".
 */
export class Outbox {
  readonly #log: Service['log'];
  readonly #database: Database;
  readonly #publish: Nats['publish'];
  /** The functions that resolve the calls that wait for their notices. */
  readonly #waiting = new Set<() => void>();
  #isStopped = false;
  #wake = () => {};

  private constructor({ log }: Service, database: Database, { publish }: Nats) {
    this.#log = log;
    this.#database = database;
    this.#publish = publish;
  }

  static start(service: Service, database: Database, nats: Nats): Outbox {
    const outbox = new Outbox(service, database, nats);
    const running = outbox.#run();
    service.onStop('outbox', async () => {
      outbox.#isStopped = true;
      outbox.#wake();
      await running;
    });
    return outbox;
  }

  /**
   * Resolves to what the change resolves to, as soon as JetStream has acknowledged every notice that is in the outbox after it. Rejects
   * with Fault `unavailable` if that takes longer than 5 s. The outbox then still tries to send the notices.
   *
   * @param hintOf what the operator has to know of a change that was stored but not confirmed
   */
  async confirm<Doc>(change: Promise<Doc>, hintOf?: (doc: Doc) => string): Promise<Doc> {
    const doc = await change;
    if (await this.#isFlushed()) return doc;
    const hint = hintOf ? `; ${hintOf(doc)}` : '';
    throw new Fault(
      'unavailable',
      `the change is stored, but the gateways could not be notified within 5 s: they will be notified when NATS answers again${hint}`,
    );
  }

  /** Resolves to whether every notice that is in the outbox now was acknowledged in time. */
  #isFlushed(): Promise<boolean> {
    return new Promise((resolve) => {
      const answer = (isInTime: boolean) => {
        clearTimeout(late);
        this.#waiting.delete(confirm);
        resolve(isInTime);
      };
      const confirm = () => answer(true);
      const late = setTimeout(() => answer(false), SENT_WITHIN_MS);
      this.#waiting.add(confirm);
      this.#wake();
    });
  }

  async #run(): Promise<void> {
    let pauseMs = SHORTEST_PAUSE_MS;
    while (!this.#isStopped) {
      // This round may miss the notices of callers that arrive during it. They wait for the next round.
      const served = [...this.#waiting];
      try {
        await this.#sendAll();
        for (const confirm of served) confirm();
        pauseMs = SHORTEST_PAUSE_MS;
        if (this.#waiting.size === 0) await this.#pause(SWEEP_MS);
      } catch (error) {
        this.#log.warn(
          { err: { message: (error as Error).message }, pauseMs },
          'notices to the gateways could not be sent yet',
        );
        await this.#pause(pauseMs);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    }
  }

  async #sendAll(): Promise<void> {
    for (;;) {
      const notices = await this.#database.listOutbox(BATCH);
      for (const { _id: revision, notice } of notices) {
        const payload = notice.value();
        await this.#publish('account changes', accountChangesSubject(revision), payload, {
          msgID: String(revision),
          timeout: PUBLISH_WITHIN_MS,
          ...(AccountChanged.decode(payload).deleted && KEPT_FOR_EVER),
        });
        await this.#database.write(this.#database.collections.outbox.deleteOne({ _id: revision }));
      }
      if (notices.length < BATCH) return;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#isStopped ? 0 : ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
