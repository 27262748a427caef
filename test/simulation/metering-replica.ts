import type { GrantUsage, Recall } from '@brand-data/contracts';
import type { LedgerDatabase } from '../../services/metering/src/ledger-database.ts';
import type { LedgerRules } from '../../services/metering/src/ledger-rules.ts';
import { createLedgerStore, type LedgerStore } from '../../services/metering/src/ledger-store.ts';
import { createMetering, type Metering } from '../../services/metering/src/metering.ts';
import { type Barrier, startSettler } from '../../services/metering/src/settler.ts';
import type { Delivery, JetStream } from './jetstream.ts';
import type { Machine, Process } from './machine.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

const REDELIVER_AFTER_MS = 1_000;
const POLL_MS = 20;
const ASK_WITHIN_MS = 2_000;
const APPLIED_WITHIN_MS = 10_000;
/** Few, so that breakdowns of the few calls here are merged too. */
const MOST_UNMERGED_CELLS = 3;

/** One running metering process: the service's own protocol code on this world's time, network and database. */
export interface MeteringReplica {
  readonly process: Process;
  readonly metering: Metering;
}

export interface ReplicaParts {
  world: World;
  machine: Machine;
  jetStreams: readonly JetStream[];
  random: Random;
  connectDatabase: (client: Process) => LedgerDatabase;
  /** By core NATS. */
  broadcast: (from: Process, recall: Recall) => void;
  rules: LedgerRules;
}

export function startReplica({
  world,
  machine,
  jetStreams,
  random,
  connectDatabase,
  broadcast,
  rules,
}: ReplicaParts): MeteringReplica {
  const process = machine.boot();
  const { clock } = process;
  const { name } = machine;
  const store = createLedgerStore({
    ...{ database: connectDatabase(process), clock, rules, random: random.unit },
    mostUnmergedCells: MOST_UNMERGED_CELLS,
  });
  startSettler(
    { store, clock, barrier: barrierOn(jetStreams, process), rules },
    {
      settled: (grants) => world.note(() => `${name} settled ${grants} grants`),
      failed: (error) => world.note(() => `${name} could not settle: ${error}`),
    },
  );
  const metering = createMetering(
    { store, clock, recall: (recall) => broadcast(process, recall), rules },
    { decided: () => {}, recalled: () => {} },
  );
  for (const each of jetStreams)
    consumeUsage(each, process, store, (text) => world.note(() => `${name} ${text}`));
  world.note(() => `${name} starts`);
  return { process, metering };
}

/** What metering does with the stream's messages: all that came meanwhile at once, acknowledged after the write. */
function consumeUsage(
  jetStream: JetStream,
  process: Process,
  store: LedgerStore,
  note: (text: string) => void,
): void {
  let waiting: Delivery[] = [];
  let applying = false;

  const applyAll = async (): Promise<void> => {
    if (applying) return;
    applying = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const usage: GrantUsage[] = batch.flatMap(({ event }) => event.usage);
      try {
        const { refused, unknown, unavailable } = await store.applyUsage(usage);
        if (refused.length > 0) note(`drops usage of closed grants: ${refused.join(', ')}`);
        const left = new Set([...unknown, ...unavailable]);
        for (const message of batch) {
          if (message.event.usage.some(({ grantId }) => left.has(grantId))) message.nak(REDELIVER_AFTER_MS);
          else message.ack();
        }
      } catch {
        for (const message of batch) message.nak(REDELIVER_AFTER_MS);
      }
    }
    applying = false;
  };

  jetStream.subscribe(process, (message) => {
    waiting.push(message);
    void applyAll();
  });
}

function barrierOn(jetStreams: readonly JetStream[], process: Process): Barrier {
  const { clock } = process;
  const marker = { holder: process.machine.name, usage: [] };
  const passOne = async (jetStream: JetStream): Promise<boolean> => {
    const sequence = await jetStream.publish(process, marker, ASK_WITHIN_MS);
    const beganMs = clock.now().monotonicMs;
    while (clock.now().monotonicMs - beganMs < APPLIED_WITHIN_MS) {
      if ((await jetStream.ackFloor(process, ASK_WITHIN_MS)) >= sequence) return true;
      await clock.sleep(POLL_MS);
    }
    return false;
  };
  return { pass: async () => (await Promise.all(jetStreams.map(passOne))).every(Boolean) };
}
