import type { Cluster } from './cluster.ts';
import { FINE_WEATHER } from './network.ts';
import type { Fault } from './plan.ts';

/** Makes a fault happen; what it answers ends it. Several of a kind at once end with the first. */
export function applyFault(cluster: Cluster, fault: Fault): () => void {
  const { network, jetStream, mongo } = cluster;
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
    case 'weather':
      network.weather = fault.weather;
      return () => {
        network.weather = FINE_WEATHER;
      };
    case 'cut':
      for (const { from, to } of fault.links) network.cut(from, to);
      return () => {
        for (const { from, to } of fault.links) network.mend(from, to);
        jetStream.resume();
      };
    case 'stream':
      Object.assign(jetStream.faults, fault.faults);
      return () => {
        Object.assign(jetStream.faults, {
          ...{ acknowledgementsLost: 0, consumerAcksLost: 0, deposed: false, consumerStalled: false },
        });
        jetStream.resume();
      };
    case 'stream killed':
      jetStream.killHard();
      network.cut('*', 'nats');
      return () => {
        network.mend('*', 'nats');
        jetStream.resume();
      };
    case 'fail-over':
      mongo.failingOver = true;
      return () => {
        mongo.failingOver = false;
      };
    case 'slow database':
      mongo.slow = true;
      return () => {
        mongo.slow = false;
      };
  }
}
