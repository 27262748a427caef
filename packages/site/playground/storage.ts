/** A text that this browser keeps. A browser without storage keeps none. */
export interface KeptText {
  read: () => string;
  write: (text: string) => void;
  forget: () => void;
}

export function keptText(key: string): KeptText {
  return {
    read: () => whereAllowed(() => localStorage.getItem(key)) ?? '',
    write: (text) => whereAllowed(() => localStorage.setItem(key, text)),
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
