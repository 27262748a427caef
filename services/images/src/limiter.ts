/** Runs at most `most` tasks at once. The others wait for their turn. Whoever adds tasks bounds their number. */
export function createLimiter(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      // The turn goes on to the next task, or ends.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
