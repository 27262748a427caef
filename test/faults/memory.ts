import { setTimeout as delay } from 'node:timers/promises';
import { slopeOf } from '@brand-data/testing/slope';
import type { FaultStack } from './stack.ts';

/** Options of Node with which a process collects all its garbage on SIGWINCH. */
export const COLLECTS_GARBAGE = [
  '--expose-gc',
  '--import',
  'data:text/javascript,process.on("SIGWINCH", () => gc())',
];

const COLLECTED_WITHIN_MS = 60_000;
const MIB = 1024 ** 2;
/** What caches that are not full yet, and V8's own code and free pages, may add. */
const MOST_GROWTH_MIB = { live: 12, resident: 32 };

/** The memory of processes over time, measured after each has collected its garbage. */
export class MemoryLog {
  readonly #stack: FaultStack;
  /** By process. `resident`: VmRSS. `live`: what V8's heap and buffers outside it hold. Both in MiB. */
  readonly #samples = new Map<string, { x: number; resident: number; live: number }[]>();

  constructor(stack: FaultStack) {
    this.#stack = stack;
  }

  /** Measures all services. Returns a line with the resident memory of each. */
  async measure(x: number): Promise<string> {
    const names = [...this.#stack.opsUrls.keys()];
    const figures = await Promise.all(
      names.map(async (name) => {
        await this.#collectGarbage(name);
        const metric = (what: string) => this.#stack.metric([name], what);
        const resident = (await metric('process_resident_memory_bytes')) / MIB;
        const live =
          (await metric('nodejs_heap_size_used_bytes')) + (await metric('nodejs_external_memory_bytes'));
        const samples = this.#samples.get(name) ?? [];
        this.#samples.set(name, [...samples, { x, resident, live: live / MIB }]);
        return `${name} ${resident.toFixed(0)} (${(live / MIB).toFixed(1)} live)`;
      }),
    );
    return figures.join(', ');
  }

  /** Returns a line for each process: by how much the line through its samples rises from the first sample to the last. */
  growth(): { name: string; line: string; isTooMuch: boolean }[] {
    return [...this.#samples].map(([name, samples]) => {
      const span = (samples.at(-1)?.x ?? 0) - (samples[0]?.x ?? 0);
      const rise = (of: 'resident' | 'live') =>
        slopeOf(samples.map((each) => ({ x: each.x, y: each[of] }))) * span;
      const [resident, live] = [rise('resident'), rise('live')];
      const said = (mib: number) =>
        `${mib.toFixed(1)} MiB (${(mib / span).toFixed(1)} for each million inputs)`;
      return {
        name,
        line: `${name}: resident memory grows by ${said(resident)}, live memory by ${said(live)}`,
        isTooMuch: live > MOST_GROWTH_MIB.live || resident > MOST_GROWTH_MIB.resident,
      };
    });
  }

  async #collectGarbage(name: string): Promise<void> {
    const collections = () =>
      this.#stack.metric([name], 'nodejs_gc_duration_seconds_count', { kind: 'major' });
    const before = await collections();
    const byMs = performance.now() + COLLECTED_WITHIN_MS;
    // Node may miss a collection, so it is asked again.
    do {
      if (performance.now() > byMs) throw new Error(`${name} did not collect its garbage`);
      const pid = this.#stack.pid(name);
      if (pid === undefined) throw new Error(`${name} has ended: its log says why`);
      process.kill(pid, 'SIGWINCH');
      await delay(300);
    } while ((await collections()) <= before);
  }
}
