/** A copy of all data of the product in a folder, and its restore. Speaks to MongoDB and NATS directly. */

export { backup } from './backup.ts';
export { type Manifest, readManifest } from './copied-files.ts';
export { type RestoreOptions, type RestoreResult, restore } from './restore.ts';
export type { ServerSettings } from './servers.ts';
