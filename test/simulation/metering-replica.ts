import type { MonthUsage, Recall } from '@brand-data/contracts';
import { Metering } from '@brand-data/metering/src/granting/metering.ts';
import type { LedgerDatabase } from '@brand-data/metering/src/ledger/ledger-database.ts';
import { LedgerStore } from '@brand-data/metering/src/ledger/ledger-store.ts';
import { readMonthUsage } from '@brand-data/metering/src/rpc/usage-answers.ts';
import { startSettler, usageBarrier } from '@brand-data/metering/src/settling/settler.ts';
import { UsageConsumer } from '@brand-data/metering/src/usage/usage-consumer.ts';
import { keepRoom } from '@brand-data/metering/src/usage/usage-retention.ts';
import type { UsageStreams } from '@brand-data/metering/src/usage/usage-streams.ts';
import type { Machine } from './machine.ts';
import type { Rules } from './rules.ts';
import { ACCOUNTS_WORD } from './signed-allowances.ts';
import type { Process, World } from './world.ts';

/** Small, so that breakdowns are merged although there are few calls. */
const MOST_UNMERGED_CELLS = 3;

/** One running metering process: the service's own code with the simulated time, network, database and streams. */
export interface MeteringReplica {
  readonly process: Process;
  readonly metering: Metering;
  readUsage(accountId: string, month: string): Promise<MonthUsage>;
}

interface ReplicaParts {
  world: World;
  machine: Machine;
  connectDatabase: (client: Process) => LedgerDatabase;
  connectStreams: (client: Process) => UsageStreams;
  /** Broadcasts on core NATS. */
  broadcast: (from: Process, recall: Recall) => void;
  rules: Rules;
}

export function startReplica({
  world,
  machine,
  connectDatabase,
  connectStreams,
  broadcast,
  rules,
}: ReplicaParts): MeteringReplica {
  const process = machine.boot();
  const { clock } = process;
  const { name } = machine;
  const store = rules.store(
    new LedgerStore({
      database: rules.database(connectDatabase(process)),
      clock,
      random: world.random.unit,
      mostUnmergedCells: MOST_UNMERGED_CELLS,
    }),
  );
  const streams = connectStreams(process);
  startSettler(
    {
      store: rules.settlersStore(store),
      clock,
      barrier: usageBarrier({ streams: rules.barrierStreams(streams), clock, holder: name }),
    },
    {
      settled: (grants) => world.note(() => `${name} settled ${grants} grants`),
      failed: (error) => world.note(() => `${name} could not settle: ${error}`),
    },
  );
  const metering = new Metering(
    {
      store,
      clock,
      recall: (recall) => broadcast(process, recall),
      allowances: ACCOUNTS_WORD,
      newSecret: () => Array.from({ length: 22 }, () => world.random.whole(0, 9)).join(''),
    },
    {
      decided: () => {},
      recalled: () => {},
      dropped: () => {},
      rejected: (reason) => world.note(() => `${name} rejects: ${reason}`),
    },
  );
  const note = (line: () => string) => world.note(() => `${name} ${line()}`);
  new UsageConsumer(
    { streams: rules.consumersStreams(streams), store: rules.consumersStore(store), clock },
    {
      applying: (batch, apply) => {
        rules.taken(batch);
        return apply();
      },
      applied: () => {},
      refused: (grants) => note(() => `refuses usage of ${grants} closed grants`),
      redelivered: (messages, why) => note(() => `sees ${messages} messages again: ${why}`),
      parked: ({ stream, sequence }) => note(() => `parks ${stream} ${sequence}`),
      deadLettered: ({ stream, sequence }, reason) =>
        note(() => `dead-letters ${stream} ${sequence}: ${reason}`),
      notOpen: (error) => note(() => `cannot take usage: ${error}`),
    },
  );
  keepRoom(
    { streams: rules.retentionStreams(streams), clock },
    {
      purged: (stream, messages) => note(() => `purges ${messages} of ${stream.name}`),
      failed: () => {},
    },
  );
  world.note(() => `${name} starts`);
  const readUsage = (accountId: string, month: string) =>
    readMonthUsage({ store, catchUp: async () => undefined }, { accountId, month });
  return { process, metering: rules.metering(metering), readUsage };
}
