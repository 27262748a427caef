/** The operator's command line, and the connection that it makes. */

export { type Connection, openConnection, type Settings } from './connection.ts';
export { main } from './main.ts';
