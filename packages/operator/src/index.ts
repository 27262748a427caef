/** The operator's command line, and its connection to the services. */

export { type Connection, openConnection } from './connection/connection.ts';
export type { Settings } from './connection/settings.ts';
export { main } from './main.ts';
export { serveUsagePage } from './usage-page/server.ts';
