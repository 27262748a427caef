/** Calls the public API as callers do. */
export interface Caller {
  brand(identifier: string, token: string | null, init?: RequestInit): Promise<Response>;
  logo(identifier: string, token: string | null, init?: RequestInit): Promise<Response>;
}

export function callerOf(gateway: { url: string }): Caller {
  const call = (path: string, token: string | null, init?: RequestInit) => {
    const query = token === null ? '' : `?token=${encodeURIComponent(token)}`;
    return fetch(`${gateway.url}${path}${query}`, { signal: AbortSignal.timeout(10_000), ...init });
  };
  return {
    brand: (identifier, token, init) => call(`/v1/brands/${encodeURIComponent(identifier)}`, token, init),
    logo: (identifier, token, init) => call(`/api/logos/${encodeURIComponent(identifier)}/info`, token, init),
  };
}

const MOST_ATTEMPTS = 10;

/** Repeats a call while it gets 503, as callers do: on a busy machine a look-up may miss its deadline. */
export async function untilAnswered(call: () => Promise<Response>): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await call();
    if (response.status !== 503 || attempt === MOST_ATTEMPTS) return response;
    await response.body?.cancel();
  }
}
