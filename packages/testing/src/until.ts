import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `holds` returns a truthy value. When it gives up, its error names the condition. */
export async function until<T>(
  what: string,
  holds: () => Promise<T | undefined | false>,
  { withinMs, everyMs = 100 }: { withinMs: number; everyMs?: number },
): Promise<T> {
  const lateMs = performance.now() + withinMs;
  for (;;) {
    const answer = await holds();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > lateMs) throw new Error(`not within ${withinMs / 1_000} s: ${what}`);
    await delay(everyMs);
  }
}
