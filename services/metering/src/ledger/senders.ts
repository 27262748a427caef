import { isHolderKey, isSignedBy, keyOfHolder, proofEndMs } from '@brand-data/contracts';
import { type Clock, Fault } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import { type Sender, UNPROVED } from './sender.ts';

/** How many gateway processes' keys are remembered. */
const HOLDERS_REMEMBERED = 10_000;

/** Finds out who sent a request or a usage event. Needs no look-up, because a holder's name is its public key. */
export interface Senders {
  /**
   * The sender of a request that names this holder. UNPROVED: the request has no proof. Throws Fault `unauthenticated` if the
   * proof is another holder's or its time is over.
   */
  ofRequest(holder: string, proof: string | undefined): Sender;
  /**
   * The sender of a usage event that names this holder. UNPROVED: the event is not signed. undefined: the signature is not the
   * holder's.
   */
  ofEvent(holder: string, payload: Uint8Array, signature: string | undefined): Sender | undefined;
}

export function createSenders(clock: Pick<Clock, 'now'>): Senders {
  const keys = new LRUCache<string, NonNullable<ReturnType<typeof keyOfHolder>>>({ max: HOLDERS_REMEMBERED });
  /** The last proof of each holder that was verified, so that a proof is verified once. */
  const proofs = new LRUCache<string, { proof: string; endMs: number }>({ max: HOLDERS_REMEMBERED });

  const keyOf = (holder: string) => {
    const known = keys.get(holder) ?? keyOfHolder(holder);
    if (known) keys.set(holder, known);
    return known;
  };

  return {
    ofRequest: (holder, proof) => {
      if (proof === undefined) return UNPROVED;
      const nowMs = clock.now().wallMs;
      const last = proofs.get(holder);
      if (last?.proof === proof && nowMs < last.endMs) return holder;
      const key = keyOf(holder);
      const endMs = key && proofEndMs(key, holder, proof, nowMs);
      if (endMs === undefined) {
        const detail = 'the proof is not of the holder that the request names, or its time is over';
        throw new Fault('unauthenticated', detail);
      }
      proofs.set(holder, { proof, endMs });
      return holder;
    },
    ofEvent: (holder, payload, signature) => {
      if (signature === undefined) return UNPROVED;
      const key = isHolderKey(holder) ? keyOf(holder) : undefined;
      return key && isSignedBy(key, payload, signature) ? holder : undefined;
    },
  };
}
