const KEY = 'brand-data-token';

/** The token that the visitor asked this browser to remember. A browser without storage remembers none. */
export const keptToken = {
  read: (): string | undefined => whereAllowed(() => localStorage.getItem(KEY)) ?? undefined,
  write: (token: string): void => whereAllowed(() => localStorage.setItem(KEY, token)),
  forget: (): void => whereAllowed(() => localStorage.removeItem(KEY)),
};

function whereAllowed<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    // The visitor has forbidden storage, or it is full.
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}
