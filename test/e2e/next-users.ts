import { readFile } from 'node:fs/promises';
import { DATABASE_SERVICES, natsUser, SERVICES } from '@brand-data/contracts';
import { replaceFile, settingFile } from '@brand-data/local';
import type { LocalServer } from '@brand-data/servers';
import { MongoClient } from 'mongodb';
import type { TestStack } from '../stack/index.ts';

const PASSWORD = 'the next password';

/** A second user of each service on NATS and on MongoDB, which takes the place of the first one while the service runs. */
export async function nextUsers(stack: TestStack, nats: LocalServer, natsConfig: string) {
  const mongo = new MongoClient(stack.mongodbUrl);
  const admin = mongo.db('admin');
  const open = await readFile(natsConfig, 'utf8');
  const [everything = ''] = /\{ user: admin.*\}/.exec(open) ?? [];
  const next = SERVICES.map((service) => natsUser(service, `${service}-next`, `"${PASSWORD}"`));
  const setNatsUsers = async (users: readonly string[]) => {
    const lines = `authorization { users: [\n${users.join('\n')}\n] }\n`;
    await replaceFile(natsConfig, open.replace(/authorization \{[\s\S]*?\n\}\n/, lines));
    process.kill(nats.child.pid ?? 0, 'SIGHUP');
  };
  const changeUser = async (name: string, setting: string, user: string) => {
    const file = settingFile(stack.dataDir, name, setting);
    const login = `${user}:${encodeURIComponent(PASSWORD)}@`;
    await replaceFile(file, (await readFile(file, 'utf8')).replace(/(?<=\/\/).*@/, login));
  };
  const databaseUsers = DATABASE_SERVICES.map((service) => `${stack.databasePrefix}_${service}`);
  return {
    async add() {
      await setNatsUsers([everything, ...SERVICES.map((service) => natsUser(service)), ...next]);
      for (const name of databaseUsers) {
        const roles = [{ role: name, db: 'admin' }];
        await admin.command({ createUser: `${name}_next`, pwd: PASSWORD, roles });
      }
    },
    /** @param name a process of the stack, such as "gateway-1" */
    async use(name: string) {
      const service = name.replace(/-\d+$/, '');
      await changeUser(name, 'NATS_URL', `${service}-next`);
      if (service !== 'gateway')
        await changeUser(name, 'MONGODB_URL', `${stack.databasePrefix}_${service}_next`);
    },
    async removeOld() {
      await setNatsUsers([everything, ...next]);
      for (const name of databaseUsers) await admin.command({ dropUser: name });
    },
    async end() {
      for (const name of databaseUsers) await admin.command({ dropUser: `${name}_next` }).catch(() => {});
      await mongo.close();
    },
  };
}
