// Makes the single MongoDB server a replica set with one member, and waits until it accepts writes. May be run again.
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';

// The script runs in the image's folder, whose node_modules has the driver.
const { MongoClient } = createRequire(`${process.cwd()}/`)('mongodb');

const host = process.env.MONGODB_MEMBER;
const NOT_YET_INITIALIZED = 94;
const ALREADY_INITIALIZED = 23;

const client = new MongoClient(`mongodb://${host}/?directConnection=true`, {
  serverSelectionTimeoutMS: 2_000,
});
const admin = client.db('admin');
let said = '';
for (;;) {
  try {
    // If DNS does not know the name yet, only a new connection resolves it again.
    await client.connect();
    if ((await admin.command({ hello: 1 })).isWritablePrimary) break;
    await admin.command({ replSetGetStatus: 1 });
  } catch (error) {
    if (error.code === NOT_YET_INITIALIZED) {
      await admin
        .command({ replSetInitiate: { _id: 'brand-data', members: [{ _id: 0, host }] } })
        .catch((failure) => failure.code === ALREADY_INITIALIZED || console.log(failure.message));
    } else if (error.message !== said) {
      said = error.message;
      console.log(said);
    }
  }
  await delay(500);
}
await client.close();
console.log(`${host} takes writes`);
