import { flushCompileCache } from 'node:module';
import { afterAll } from 'vitest';

// Node stores compiled code when a process exits, but vitest ends the processes of tests by a signal.
afterAll(() => flushCompileCache());
