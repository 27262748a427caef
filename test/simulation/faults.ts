import type { Cluster } from './cluster.ts';
import { FINE_WEATHER } from './network.ts';
import type { Fault } from './plan.ts';

/** Makes a fault happen; what it answers ends it. Several of a kind at once end with the first. */
export function applyFault(cluster: Cluster, fault: Fault): () => void {
  const { network, jetStreams, mongo } = cluster;
  const resume = () => {
    for (const each of jetStreams) each.resume();
  };
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
        resume();
      };
    case 'stream':
      for (const [index, { faults }] of jetStreams.entries()) {
        const isMeant = fault.stream === undefined || fault.stream % jetStreams.length === index;
        if (isMeant) Object.assign(faults, fault.faults);
      }
      return () => {
        for (const { faults } of jetStreams) {
          Object.assign(faults, {
            ...{ acknowledgementsLost: 0, consumerAcksLost: 0, deposed: false, consumerStalled: false },
          });
        }
        resume();
      };
    case 'stream killed':
      for (const each of jetStreams) each.killHard();
      network.cut('*', 'nats');
      return () => {
        network.mend('*', 'nats');
        resume();
      };
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
