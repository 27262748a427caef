import { readFile } from 'node:fs/promises';
import { CHART, CLUSTER_IMAGES, type Namespace, waitFor } from './cluster.ts';
import { pod } from './pod.ts';

const { MONGODB_IMAGE = 'mongo:6.0', NATS_IMAGE = 'nats:2.15-alpine' } = process.env;

/** Addresses by which other namespaces reach the servers. */
export interface Dependencies {
  mongodbUrl: string;
  natsUrl: string;
}

/**
 * Installs a MongoDB and a NATS outside the chart, as an operator may have them: a replica set with one member, and one server
 * with JetStream. Their data is lost with their pods.
 */
export async function startDependencies(namespace: Namespace): Promise<Dependencies> {
  const at = (name: string, port: number) => `${name}.${namespace.name}.svc.cluster.local:${port}`;
  const script = await readFile(`${CHART}/files/scripts/initiate-replica-set.mjs`, 'utf8');
  const mongodb = at('mongodb', 27017);
  const items = [
    ...server({
      name: 'mongodb',
      port: 27017,
      image: MONGODB_IMAGE,
      user: 999,
      folder: '/data/db',
      args: ['--replSet', 'brand-data', '--bind_ip_all', '--nounixsocket', '--wiredTigerCacheSizeGB', '0.4'],
    }),
    ...server({
      name: 'nats',
      port: 4222,
      image: NATS_IMAGE,
      user: 1000,
      folder: '/data',
      args: ['--jetstream', '--store_dir', '/data'],
    }),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'initiate' }, data: { 'initiate.mjs': script } },
    pod({
      name: 'initiate',
      user: 65532,
      restartPolicy: 'OnFailure',
      container: {
        image: `${CLUSTER_IMAGES.repository}/accounts:${CLUSTER_IMAGES.tag}`,
        command: ['node', '/initiate/initiate.mjs'],
        env: [{ name: 'MONGODB_MEMBER', value: mongodb }],
        volumeMounts: [{ name: 'initiate', mountPath: '/initiate' }],
      },
      volumes: [{ name: 'initiate', configMap: { name: 'initiate' } }],
    }),
  ];
  await namespace.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await waitFor('MongoDB takes writes, and NATS is there', async () => {
    const phase = await namespace.kubectl('get', 'pod/initiate', '--output', 'jsonpath={.status.phase}');
    return phase === 'Succeeded' && (await namespace.readyPods('nats')).length === 1;
  });
  return { mongodbUrl: `mongodb://${mongodb}/?replicaSet=brand-data`, natsUrl: `nats://${at('nats', 4222)}` };
}

interface Server {
  name: string;
  port: number;
  image: string;
  user: number;
  /** The folder of the server's data. */
  folder: string;
  args: string[];
}

function server({ name, port, image, user, folder, args }: Server): unknown[] {
  const selector = { 'app.kubernetes.io/component': name };
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector, ports: [{ port }] },
    },
    pod({
      name,
      user,
      labels: selector,
      container: {
        image,
        args,
        ports: [{ containerPort: port }],
        readinessProbe: { tcpSocket: { port }, periodSeconds: 2 },
        volumeMounts: [
          { name: 'data', mountPath: folder },
          { name: 'tmp', mountPath: '/tmp' },
        ],
      },
      volumes: [
        { name: 'data', emptyDir: {} },
        { name: 'tmp', emptyDir: {} },
      ],
    }),
  ];
}
