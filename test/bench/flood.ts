/** Loads a gateway from a thread of its own, so that it does not delay the calls that the main thread measures. */

import { parentPort, workerData } from 'node:worker_threads';
import { runLoad } from './load.ts';

const { target, ...load } = workerData as { target: string } & Parameters<typeof runLoad>[1];
parentPort?.postMessage((await runLoad(target, load)).callsPerSecond);
