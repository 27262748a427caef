/**
 * `node deploy/chart/server-users.ts [FOLDER]` writes the users of NATS and MongoDB and their rights into the chart's files, or into
 * another folder. packages/contracts says what the rights are.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DATABASE_SERVICES, mongodbRoleOf, natsAuthorization } from '@brand-data/contracts';

const [folder = join(import.meta.dirname, 'files')] = process.argv.slice(2);

const NATS = `# Made by "npm run generate" from packages/contracts/src/server-rights.ts.
# The passwords are variables: define them at the beginning of this file, or in the server's environment. nats-server does not pass
# variables on from a file that includes this one.
${natsAuthorization()}`;

const ROLES = Object.fromEntries(
  DATABASE_SERVICES.map((service) => {
    const { privileges, roles } = mongodbRoleOf(service, 'DATABASE');
    return [service, { privileges, roles: roles.map(({ role }) => role) }];
  }),
);

const MONGODB = `// Made by "npm run generate" from packages/contracts/src/server-rights.ts.
// Creates a user and a role for each service, or gives them these rights. The user has the name of the service's database.
//   mongosh 'mongodb://…' mongodb-users.js
// The passwords are in the environment, such as ACCOUNTS_MONGODB_PASSWORD. For one that is missing, mongosh asks.
const databases = {
${DATABASE_SERVICES.map((service) => `  ${service}: process.env.${service.toUpperCase()}_MONGODB_DATABASE ?? 'brand_data_${service}',`).join('\n')}
};
const rights = {
${DATABASE_SERVICES.map((service) => `  ${service}: ${JSON.stringify(ROLES[service])},`).join('\n')}
};

const admin = db.getSiblingDB('admin');
for (const [service, { privileges, roles }] of Object.entries(rights)) {
  const name = databases[service];
  const pwd = process.env[\`\${service.toUpperCase()}_MONGODB_PASSWORD\`] ?? passwordPrompt();
  const role = { privileges, roles: roles.map((each) => ({ role: each, db: name })) };
  if (admin.getRole(name)) admin.updateRole(name, role);
  else admin.createRole({ role: name, ...role });
  const user = { pwd, roles: [{ role: name, db: 'admin' }] };
  if (admin.getUser(name)) admin.updateUser(name, user);
  else admin.createUser({ user: name, ...user });
  print(\`\${name}: may use its own database\`);
}
`;

await mkdir(folder, { recursive: true });
await writeFile(join(folder, 'nats-users.conf'), NATS);
await writeFile(join(folder, 'mongodb-users.js'), MONGODB);
await writeFile(join(folder, 'mongodb-rights.json'), `${JSON.stringify(ROLES, null, 2)}\n`);
