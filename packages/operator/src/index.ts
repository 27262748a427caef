/** The operator's command line, and its connection to the services. */

export { type Connection, openConnection, type Settings } from './connection/connection.ts';
export { main } from './main.ts';
export { serveUsagePage } from './usage-page/server.ts';
