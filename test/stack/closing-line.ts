import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Ends the output with a line "failed: FILE > TEST" for each failed test, and one line for people and scripts:
 * "N passed, N failed, N skipped". "Failed" also counts each file that could not be run and each error outside all tests.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    const failed = errors.map((error) => `an error outside all tests: ${error.message}`);
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      for (const test of tests) counts[test.result().state]++;
      const failures = tests.filter((test) => test.result().state === 'failed').map((test) => test.fullName);
      // If a hook fails or a file cannot be loaded, no test reports the failure.
      if (module.state() === 'failed' && failures.length === 0) failures.push('the file or one of its hooks');
      failed.push(...failures.map((failure) => `${module.relativeModuleId} > ${failure}`));
    }
    // At the exit the other reporters have finished their output.
    process.once('exit', () => {
      const lines = failed.map((failure) => `failed: ${failure}\n`).join('');
      process.stdout.write(
        `\n${lines}${counts.passed} passed, ${failed.length} failed, ${counts.skipped} skipped\n`,
      );
    });
  }
}
