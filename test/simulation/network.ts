import { Fault } from '@brand-data/runtime';
import type { Random } from '@brand-data/testing/random';
import type { Process } from './machine.ts';
import type { World } from './world.ts';

/** The network's faults, as shares of the messages. */
export interface LinkFaults {
  lost: number;
  doubled: number;
  /** Delayed by up to a few seconds. */
  late: number;
  /** Delayed by up to some minutes. */
  veryLate: number;
}

export const LATEST_MESSAGE_MS = 180_000;

export const NO_LINK_FAULTS: LinkFaults = { lost: 0, doubled: 0, late: 0, veryLate: 0 };

export interface Network {
  linkFaults: LinkFaults;
  /** From now on, messages from one place to another are lost. `*` is every place. */
  cut(from: string, to: string): void;
  mend(from: string, to: string): void;
  isCut(from: string, to: string): boolean;
  /** Sends one message between two places. `arrive` may run never, once or twice. */
  send(message: Message): void;
  /** One gRPC call with a deadline on the caller's clock. Rejects with Fault `unavailable` if there is no answer by then. */
  call<Answer>(
    caller: Process,
    server: { process: Process } | undefined,
    handle: () => Promise<Answer>,
    deadlineMs: number,
  ): Promise<Answer>;
}

/** The parts that all servers of a world share. */
export interface WorldParts {
  world: World;
  random: Random;
  network: Network;
}

interface Message {
  from: string;
  to: string;
  /** The process that sends the message. If its machine falls asleep, the message may stay in its buffers. */
  sender?: Process;
  arrive: () => void;
}

export function createNetwork(world: World, random: Random): Network {
  const cuts = new Set<string>();
  const isCut = (from: string, to: string) =>
    cuts.size > 0 && [`${from}>${to}`, `${from}>*`, `*>${to}`].some((link) => cuts.has(link));

  const network: Network = {
    linkFaults: NO_LINK_FAULTS,
    cut: (from, to) => {
      cuts.add(`${from}>${to}`);
    },
    mend: (from, to) => {
      cuts.delete(`${from}>${to}`);
    },
    isCut,
    send: ({ from, to, sender, arrive }) => {
      const { lost, doubled, late, veryLate } = network.linkFaults;
      if (isCut(from, to) || random.chance(lost)) return;
      const copies = random.chance(doubled) ? 2 : 1;
      for (let copy = 0; copy < copies; copy++) {
        const isVeryLate = random.chance(veryLate);
        const delayMs =
          random.between(0.2, 2) +
          (random.chance(late) ? random.between(0, 4_000) : 0) +
          (isVeryLate ? random.between(0, LATEST_MESSAGE_MS) : 0);
        world.after(delayMs, () => {
          if (sender?.isAlive() && sender.machine.isSuspended()) sender.machine.whenRunning('io', arrive);
          else if (!isCut(from, to)) arrive();
        });
      }
    },
    call: (caller, server, handle, deadlineMs) =>
      new Promise((resolve, reject) => {
        let ended = false;
        const end = (settle: () => void) => {
          if (!ended) settle();
          ended = true;
        };
        const fail = () => end(() => reject(new Fault('unavailable', 'no answer in time')));
        void caller.clock.sleep(deadlineMs).then(fail);
        if (!server) {
          caller.reach(fail);
          return;
        }
        const { process } = server;
        const names = { caller: caller.machine.name, server: process.machine.name };
        const reply = (settle: () => void) =>
          network.send({
            from: names.server,
            to: names.caller,
            sender: process,
            arrive: () => caller.reach(settle),
          });
        network.send({
          from: names.caller,
          to: names.server,
          sender: caller,
          arrive: () => {
            if (!process.isAlive()) {
              reply(fail);
              return;
            }
            process.reach(() => {
              handle().then(
                (answer) => reply(() => end(() => resolve(answer))),
                (error) => reply(() => end(() => reject(error))),
              );
            });
          },
        });
      }),
  };
  return network;
}
