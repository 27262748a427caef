import { CHART, CLUSTER_IMAGES, type Namespace, waitFor } from './cluster.ts';

const { MONGODB_IMAGE = 'mongo:6.0', NATS_IMAGE = 'nats:2.15-alpine' } = process.env;

/** Addresses by which other namespaces reach the servers. */
export interface Dependencies {
  mongodbUrl: string;
  natsUrl: string;
}

/** Installs a MongoDB and a NATS as an operator may have them. Their data is lost with their pods. */
export async function startDependencies(namespace: Namespace): Promise<Dependencies> {
  const at = (name: string, port: number) => `${name}.${namespace.name}.svc.cluster.local:${port}`;
  const mongodb = at('mongodb', 27017);
  const script = `${CHART}/files/scripts/initiate-replica-set.mjs`;
  await namespace.kubectl('create', 'configmap', 'initiate', `--from-file=initiate.mjs=${script}`);
  await namespace.applyFile('dependencies.yaml', {
    mongodb,
    mongodbImage: MONGODB_IMAGE,
    natsImage: NATS_IMAGE,
    initiateImage: `${CLUSTER_IMAGES.repository}/accounts:${CLUSTER_IMAGES.tag}`,
  });
  await waitFor('MongoDB takes writes, and NATS is there', async () => {
    const phase = await namespace.kubectl('get', 'pod/initiate', '--output', 'jsonpath={.status.phase}');
    return phase === 'Succeeded' && (await namespace.readyPods('nats')).length === 1;
  });
  return { mongodbUrl: `mongodb://${mongodb}/?replicaSet=brand-data`, natsUrl: `nats://${at('nats', 4222)}` };
}
