import type { Db, MongoClient } from 'mongodb';

/** A database and the client that is connected to its servers. */
export interface Mongo {
  client: MongoClient;
  db: Db;
}
