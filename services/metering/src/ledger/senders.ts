import { type GrantUsage, isSignedBy, keyOfHolder, proofEndMs, UsageEvent } from '@brand-data/contracts';
import { type Clock, Fault } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';

/** Who sent a request or usage: the holder whose key has signed it, or UNPROVED. */
export type Sender = string;
export const UNPROVED: Sender = '';

/** Usage that arrived from a gateway. */
export interface SentUsage extends GrantUsage {
  sender: Sender;
}

/** Usage for a ledger. Without a sender it is metering's own: a settler closes a grant. */
export type LedgerInput = GrantUsage & Partial<Pick<SentUsage, 'sender'>>;

export function sentBy(sender: Sender, usage: readonly GrantUsage[]): SentUsage[] {
  return usage.map((each) => ({ ...each, sender }));
}

/** Returns undefined if these bytes are not a usage event. */
export function decodedEvent(data: Uint8Array): UsageEvent | undefined {
  try {
    return UsageEvent.decode(data);
  } catch {
    return undefined;
  }
}

const HOLDERS_REMEMBERED = 10_000;

/** Finds out who sent a request or a usage event. Needs no look-up, because a holder's name is its public key. */
export class Senders {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #keys = new LRUCache<string, NonNullable<ReturnType<typeof keyOfHolder>>>({
    max: HOLDERS_REMEMBERED,
  });
  /** The last proof of each holder that was verified, so that a proof is verified once. */
  readonly #proofs = new LRUCache<string, { proof: string; endMs: number }>({ max: HOLDERS_REMEMBERED });

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /**
   * Returns the sender of a request that names this holder. UNPROVED: the request has no proof. Throws Fault `unauthenticated` if
   * the proof is another holder's or its time is over.
   */
  ofRequest(holder: string, proof: string | undefined): Sender {
    if (proof === undefined) return UNPROVED;
    const nowMs = this.#clock.now().wallMs;
    const last = this.#proofs.get(holder);
    if (last?.proof === proof && nowMs < last.endMs) return holder;
    const key = this.#keyOf(holder);
    const endMs = key && proofEndMs(key, holder, proof, nowMs);
    if (endMs === undefined) {
      const detail = 'the proof is not of the holder that the request names, or its time is over';
      throw new Fault('unauthenticated', detail);
    }
    this.#proofs.set(holder, { proof, endMs });
    return holder;
  }

  /**
   * Returns the sender of a usage event that names this holder. UNPROVED: the event is not signed. undefined: the signature is not
   * the holder's.
   */
  ofEvent(holder: string, payload: Uint8Array, signature: string | undefined): Sender | undefined {
    if (signature === undefined) return UNPROVED;
    const key = this.#keyOf(holder);
    return key && isSignedBy(key, payload, signature) ? holder : undefined;
  }

  #keyOf(holder: string) {
    const known = this.#keys.get(holder) ?? keyOfHolder(holder);
    if (known) this.#keys.set(holder, known);
    return known;
  }
}
