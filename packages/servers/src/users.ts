import { createHmac } from 'node:crypto';
import {
  DATABASE_SERVICES,
  type DatabaseService,
  mongodbRoleOf,
  natsAuthorization,
  natsPasswordVariable,
  SERVICES,
  type ServiceName,
} from '@brand-data/contracts';
import { type Db, MongoClient, MongoServerError } from 'mongodb';

/** The user of NATS and MongoDB that may do everything. No service has it: it is for people and tests. */
const ADMIN = 'admin';
/** The codes of MongoDB's errors if what is to be created exists. */
const EXISTS = { User: 51_003, Role: 51_002 };

/** Returns the password of a user, which cannot be computed without the secret. */
function passwordOf(secret: string, server: 'nats' | 'mongodb', user: string): string {
  return createHmac('sha256', secret).update(`${server}/${user}`).digest('base64url');
}

/** Returns the password of a user of MongoDB, or of what else MongoDB needs a secret for. */
export function mongodbPasswordOf(secret: string, user: string): string {
  return passwordOf(secret, 'mongodb', user);
}

/** Returns the URL with the user and its password, before the first host. */
function withUser(url: string, user: string, password: string): string {
  return url.replace('://', `://${user}:${password}@`);
}

/** Lines of nats-server's configuration that make a user for each service, and one that may do everything. */
export function natsUsers(secret: string): string[] {
  const passwords = SERVICES.map(
    (service) => `${natsPasswordVariable(service)}: "${passwordOf(secret, 'nats', service)}"`,
  );
  const admin = `{ user: ${ADMIN}, password: "${passwordOf(secret, 'nats', ADMIN)}" }`;
  return [...passwords, natsAuthorization([admin])];
}

export function natsUrlOf(service: ServiceName, url: string, secret: string): string {
  return withUser(url, service, passwordOf(secret, 'nats', service));
}

export function natsAdminUrl(url: string, secret: string): string {
  return withUser(url, ADMIN, passwordOf(secret, 'nats', ADMIN));
}

/** Returns the URL for the service's user. It replaces the user of the given URL, if there is one. */
export function mongodbUrlOf(database: string, url: string, secret: string): string {
  return withUser(url.replace(/:\/\/[^/@]*@/, '://'), database, mongodbPasswordOf(secret, database));
}

export function mongodbAdminUrl(url: string, secret: string): string {
  return withUser(url, ADMIN, mongodbPasswordOf(secret, ADMIN));
}

/** Creates the user that may do everything, or gives it its password. */
export async function ensureMongodbAdmin(client: MongoClient, secret: string): Promise<void> {
  await ensure(client.db('admin'), 'User', ADMIN, { pwd: mongodbPasswordOf(secret, ADMIN), roles: ['root'] });
}

/**
 * Creates a user for each service that has a database, or gives it the rights that it should have. The user and its role have the
 * database's name.
 *
 * @param adminUrl of a user that may create users
 * @param databaseOf the name of a service's database
 */
export async function ensureMongodbUsers(
  adminUrl: string,
  databaseOf: (service: DatabaseService) => string,
  secret: string,
): Promise<void> {
  const client = new MongoClient(adminUrl, { serverSelectionTimeoutMS: 5_000 });
  try {
    const admin = client.db('admin');
    for (const service of DATABASE_SERVICES) {
      const database = databaseOf(service);
      const { role, privileges, roles } = mongodbRoleOf(service, database);
      await ensure(admin, 'Role', role, { privileges, roles });
      const pwd = mongodbPasswordOf(secret, database);
      await ensure(admin, 'User', database, { pwd, roles: [{ role, db: 'admin' }] });
    }
  } finally {
    await client.close();
  }
}

/** Creates a user or a role with these rights, or gives them to the one that exists. */
async function ensure(admin: Db, kind: 'User' | 'Role', name: string, rights: object): Promise<void> {
  await admin.command({ [`create${kind}`]: name, ...rights }).catch((error) => {
    if (error instanceof MongoServerError && error.code === EXISTS[kind])
      return admin.command({ [`update${kind}`]: name, ...rights });
    throw error;
  });
}
