// Makes the single MongoDB server a replica set with one member, waits until it accepts writes, and creates the services' users. May
// be run again: then it gives the users their passwords and rights.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';

// The script runs in the image's folder, whose node_modules has the driver.
const { MongoClient } = createRequire(`${process.cwd()}/`)('mongodb');

// Without the files, the server lets everyone in, and there are no users to create.
const { MONGODB_MEMBER: host, MONGODB_KEY_FILE, MONGODB_USERS_FILE } = process.env;
const NOT_YET_INITIALIZED = 94;
const ALREADY_INITIALIZED = 23;
const EXISTS = { Role: 51_002, User: 51_003 };

const client = new MongoClient(`mongodb://${host}/?directConnection=true`, {
  serverSelectionTimeoutMS: 2_000,
  // The user that members of a replica set are to each other. It exists before the replica set does.
  ...(MONGODB_KEY_FILE && {
    auth: { username: '__system', password: readFileSync(MONGODB_KEY_FILE, 'utf8').trim() },
    authSource: 'local',
    authMechanism: 'SCRAM-SHA-256',
  }),
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
console.log(`${host} takes writes`);
const users = MONGODB_USERS_FILE ? JSON.parse(readFileSync(MONGODB_USERS_FILE, 'utf8')) : [];
const ensure = (kind, name, rights) =>
  admin.command({ [`create${kind}`]: name, ...rights }).catch((error) => {
    if (error.code === EXISTS[kind]) return admin.command({ [`update${kind}`]: name, ...rights });
    throw error;
  });
for (const { name, password: pwd, privileges, roles } of users) {
  await ensure('Role', name, { privileges, roles });
  await ensure('User', name, { pwd, roles: [{ role: name, db: 'admin' }] });
  console.log(`${name} may use its own database`);
}
await client.close();
