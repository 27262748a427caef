import type { GrantUsage } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { type LedgerKey, parseGrantId } from '../../services/metering/src/ledger.ts';
import type { LedgerStore } from '../../services/metering/src/ledger-store.ts';
import type { Process } from './machine.ts';
import type { Network } from './network.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

export const MONGO = 'mongo';
const GIVES_UP_AFTER_MS = 3_000;

/** The database that all replicas share, as seen over a network and through fail-overs. */
export interface Mongo {
  /** While the primary changes: operations fail, though they may have been applied. */
  failingOver: boolean;
  slow: boolean;
  connect(client: Process): LedgerStore;
}

/** Of these the bill may be another now. */
export type ChangedLedger = Pick<LedgerKey, 'accountId' | 'month'>;

/** @param changed told at once after each operation */
export function createMongo(
  world: World,
  random: Random,
  network: Network,
  store: LedgerStore,
  changed: (ledgers: readonly ChangedLedger[]) => void,
): Mongo {
  /** `operate(true)`: only a part of it comes to be, before the primary goes. */
  const ask = <Answer>(client: Process, operate: (isCutShort: boolean) => Promise<Answer>): Promise<Answer> =>
    new Promise((resolve, reject) => {
      let ended = false;
      const end = (settle: () => void) => {
        if (!ended) settle();
        ended = true;
      };
      const fail = () => end(() => reject(new Fault('unavailable', 'the database did not answer in time')));
      void client.clock.sleep(GIVES_UP_AFTER_MS).then(fail);
      const { name } = client.machine;
      const reply = (settle: () => void) =>
        network.send({ from: MONGO, to: name, arrive: () => client.reach(settle) });
      const perform = () => {
        const isCutShort = mongo.failingOver;
        if (isCutShort && random.chance(0.6)) reply(fail);
        else {
          operate(isCutShort).then(
            (answer) => reply(isCutShort ? fail : () => end(() => resolve(answer))),
            (error) => reply(() => end(() => reject(error))),
          );
        }
      };
      network.send({
        from: name,
        to: MONGO,
        sender: client,
        arrive: () => {
          const workMs = mongo.slow ? random.between(50, 1_500) : random.between(0.5, 4);
          world.after(workMs, perform);
        },
      });
    });

  const mongo: Mongo = {
    failingOver: false,
    slow: false,
    connect: (client) => ({
      update: (key: LedgerKey, decide) =>
        ask(client, async () => {
          const result = await store.update(key, decide);
          changed([key]);
          return result;
        }),
      applyUsage: (usage) =>
        ask(client, async (isCutShort) => {
          const applied = isCutShort ? usage.filter(() => random.chance(0.5)) : usage;
          const result = await store.applyUsage(applied);
          changed(ledgersOf(applied));
          return result;
        }),
      listOpen: (after, limit) => ask(client, () => store.listOpen(after, limit)),
      listOverdue: (nowMs, limit) => ask(client, () => store.listOverdue(nowMs, limit)),
      readUsage: (accountId, month) => ask(client, () => store.readUsage(accountId, month)),
    }),
  };
  return mongo;
}

function ledgersOf(usage: readonly GrantUsage[]): ChangedLedger[] {
  const keys = usage.flatMap(({ grantId }) => parseGrantId(grantId)?.key ?? []);
  return [...new Map(keys.map((key) => [`${key.accountId}/${key.month}`, key])).values()];
}
