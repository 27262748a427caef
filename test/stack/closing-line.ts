import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Ends the output with one line for people and scripts: "N passed, N failed, N skipped". A file that could not be run,
 * or an error outside all tests, counts as one that failed.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      const states = [...module.children.allTests()].map((test) => test.result().state);
      for (const state of states) counts[state]++;
      // A hook that failed, or a file that could not be loaded, has no test of its own.
      if (module.state() === 'failed' && !states.includes('failed')) counts.failed++;
    }
    // After what the other reporters have still to write.
    process.once('exit', () => {
      process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
    });
  }
}
