/** Returns the ways to a text that this browser keeps. A browser without storage keeps none. */
export function keptText(key: string) {
  return {
    read: () => whereAllowed(() => localStorage.getItem(key)) ?? '',
    write: (text: string) => whereAllowed(() => localStorage.setItem(key, text)),
    forget: () => whereAllowed(() => localStorage.removeItem(key)),
  };
}

function whereAllowed<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    // The visitor has forbidden storage, or it is full.
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}
