import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Ends the output with one line for people and scripts: "N passed, N failed, N skipped". "Failed" also counts each file that
 * could not be run and each error outside all tests.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      const states = [...module.children.allTests()].map((test) => test.result().state);
      for (const state of states) counts[state]++;
      // If a hook fails or a file cannot be loaded, no test reports the failure.
      if (module.state() === 'failed' && !states.includes('failed')) counts.failed++;
    }
    // At the exit the other reporters have finished their output.
    process.once('exit', () => {
      process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
    });
  }
}
