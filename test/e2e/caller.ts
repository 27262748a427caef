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
