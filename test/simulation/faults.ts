import { Route } from '@brand-data/contracts';
import type { QuotaCluster } from './cluster.ts';
import { NO_STREAM_FAULTS } from './jetstream.ts';
import { NO_LINK_FAULTS } from './network.ts';
import type { Fault } from './plan.ts';

/** The name under which strange messages are published. */
export const STRANGER = 'stranger';

/** Starts a fault. The returned function ends it, and every other fault of the same kind. */
export function applyFault(cluster: QuotaCluster, fault: Fault): () => void {
  const { network, jetStreams, mongo } = cluster;
  switch (fault.kind) {
    case 'crash':
      cluster.crash(fault.machine);
      return () => cluster.boot(fault.machine);
    case 'pause':
      cluster.machine(fault.machine).pause();
      return () => cluster.machine(fault.machine).resume();
    case 'suspend':
      cluster.machine(fault.machine).suspend();
      return () => cluster.machine(fault.machine).resume();
    case 'wall jump':
      cluster.machine(fault.machine).jumpWall(fault.byMs);
      return () => {};
    case 'link faults':
      network.linkFaults = fault.faults;
      return () => {
        network.linkFaults = NO_LINK_FAULTS;
      };
    case 'cut':
      for (const { from, to } of fault.links) network.cut(from, to);
      return () => {
        for (const { from, to } of fault.links) network.mend(from, to);
      };
    case 'stream':
      for (const [index, jetStream] of jetStreams.entries()) {
        const isMeant = fault.stream === undefined || fault.stream % jetStreams.length === index;
        if (isMeant) jetStream.setFaults(fault.faults);
      }
      return () => {
        for (const jetStream of jetStreams) jetStream.setFaults(NO_STREAM_FAULTS);
      };
    case 'stream killed':
      for (const each of jetStreams) each.killHard();
      network.cut('*', 'nats');
      return () => {
        network.mend('*', 'nats');
      };
    case 'consumer deleted':
      for (const each of jetStreams) each.deleteConsumer();
      return () => {};
    case 'strange message': {
      const { grantId } = fault;
      const usage = { used: 1, returned: 0, closed: false, partial: false };
      const day = new Date(cluster.trueWallMs()).toISOString().slice(0, 10);
      const cells = [{ keyId: 'key-1', route: Route.BRANDS, status: 200, day, count: 1 }];
      jetStreams[0]?.put(
        grantId === undefined ? undefined : { holder: STRANGER, usage: [{ ...usage, grantId, cells }] },
      );
      return () => {};
    }
    case 'lost tail':
      for (const each of jetStreams) each.loseTail(fault.messages);
      return () => {};
    case 'fail-over':
      mongo.losePrimary();
      return () => mongo.electPrimary({ deposed: false });
    case 'election':
      mongo.electPrimary({ deposed: fault.deposed });
      return () => {};
    case 'slow database':
      mongo.slow = true;
      return () => {
        mongo.slow = false;
      };
  }
}
