// Made by "npm run generate" from packages/contracts/src/server-rights.ts.
// Creates a user and a role for each service, or gives them these rights. The user has the name of the service's database.
//   mongosh 'mongodb://…' mongodb-users.js
// The passwords are in the environment, such as ACCOUNTS_MONGODB_PASSWORD. For one that is missing, mongosh asks.
const databases = {
  accounts: process.env.ACCOUNTS_MONGODB_DATABASE ?? 'brand_data_accounts',
  catalog: process.env.CATALOG_MONGODB_DATABASE ?? 'brand_data_catalog',
  metering: process.env.METERING_MONGODB_DATABASE ?? 'brand_data_metering',
  images: process.env.IMAGES_MONGODB_DATABASE ?? 'brand_data_images',
};
const rights = {
  accounts: {"privileges":[{"resource":{"cluster":true},"actions":["getParameter"]}],"roles":["readWrite"]},
  catalog: {"privileges":[{"resource":{"cluster":true},"actions":["getParameter"]}],"roles":["readWrite"]},
  metering: {"privileges":[],"roles":["readWrite"]},
  images: {"privileges":[],"roles":["readWrite"]},
};

const admin = db.getSiblingDB('admin');
for (const [service, { privileges, roles }] of Object.entries(rights)) {
  const name = databases[service];
  const pwd = process.env[`${service.toUpperCase()}_MONGODB_PASSWORD`] ?? passwordPrompt();
  const role = { privileges, roles: roles.map((each) => ({ role: each, db: name })) };
  if (admin.getRole(name)) admin.updateRole(name, role);
  else admin.createRole({ role: name, ...role });
  const user = { pwd, roles: [{ role: name, db: 'admin' }] };
  if (admin.getUser(name)) admin.updateUser(name, user);
  else admin.createUser({ user: name, ...user });
  print(`${name}: may use its own database`);
}
