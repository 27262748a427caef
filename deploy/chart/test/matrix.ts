import type { RenderOptions, Values } from './render.ts';

/** The values that a plain install cannot do without. */
export const PLAIN = {
  mongodb: { url: 'mongodb://db-0.example.com,db-1.example.com/?replicaSet=rs' },
  nats: { url: 'nats://bus.example.com:4222' },
  gateway: { logoHost: 'https://logos.example.com' },
} satisfies Values;

export const QUICKSTART = { quickstart: { enabled: true } } satisfies Values;

/** Servers with certificates of a private authority, and a separate user for the gateway. */
export const WITH_BUNDLES = {
  mongodb: { existingSecret: 'urls', ca: { configMap: 'authority', key: 'ca.pem' } },
  nats: { existingSecret: 'urls', secretKeys: { gateway: 'gateway-nats' }, ca: { secret: 'nats-tls' } },
  gateway: PLAIN.gateway,
} satisfies Values;

/** The API versions of a cluster with the Prometheus operator and a metrics adapter. */
export const WITH_OPERATORS = [
  'monitoring.coreos.com/v1/PodMonitor',
  'monitoring.coreos.com/v1/PrometheusRule',
  'custom.metrics.k8s.io/v1beta1',
];

export interface Case {
  values: Values;
  options?: RenderOptions;
}

/** Ways to install. Together they reach every branch of the templates. */
export const MATRIX: Record<string, Case> = {
  plain: { values: PLAIN },
  'quickstart in the oldest Kubernetes': { values: QUICKSTART, options: { kubeVersion: '1.27.0' } },
  'quickstart with long names and volumes of a class': {
    values: { quickstart: { enabled: true, storageClass: 'fast' }, nameOverride: 'b'.repeat(60) },
    options: { release: 'r'.repeat(53) },
  },
  'authorities of the servers': { values: WITH_BUNDLES },
  'existing Secrets': {
    values: {
      mongodb: {
        existingSecret: 'urls',
        secretKeys: { accounts: 'a', catalog: 'c', metering: 'm', images: 'i' },
      },
      nats: { existingSecret: 'urls', secretKey: 'n', streamReplicas: 3 },
      operator: { existingSecret: 'operators' },
      grpc: {
        tls: {
          existingSecrets: {
            gateway: 'tls-gateway',
            accounts: 'tls-accounts',
            catalog: 'tls-catalog',
            metering: 'tls-metering',
            images: 'tls-images',
            bds: 'tls-bds',
          },
        },
      },
      gateway: {
        logoHost: 'https://logos.example.com',
        docsUrl: 'https://docs.example.com/errors',
        demoToken: `pk_${'a'.repeat(32)}`,
      },
    },
  },
  'everything on': {
    values: {
      ...PLAIN,
      fullnameOverride: 'brands',
      image: { repository: 'registry.example.com/brand-data', tag: '1.2.3', pullSecrets: ['registry'] },
      gateway: {
        ...PLAIN.gateway,
        trustedProxies: ['10.0.0.0/8', '2001:db8::/32'],
        image: 'registry.example.com/gateway@sha256:0123',
        service: { type: 'LoadBalancer', annotations: { a: 'b' } },
        autoscaling: { enabled: true, callsPerSecond: 5000 },
        extraEnv: { HOST: '::' },
      },
      metering: { notices: { existingSecret: 'notices' } },
      images: {
        replicas: 3,
        image: 'registry.example.com/images@sha256:0123',
        service: { type: 'LoadBalancer', annotations: { a: 'b' } },
        cacheBytes: 2 ** 30,
        workers: 4,
        sweep: { schedule: '0 4 * * 0' },
        extraEnv: { HOST: '::' },
      },
      ingress: {
        enabled: true,
        className: 'nginx',
        hosts: ['api.example.com', 'brands.example.com'],
        tlsSecret: 'certificate',
        hashOnToken: true,
        annotations: { 'cert-manager.io/issuer': 'letsencrypt' },
      },
      networkPolicy: {
        callers: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
        operators: [{ podSelector: { matchLabels: { team: 'operators' } } }],
        mongodb: { to: [{ ipBlock: { cidr: '10.0.0.0/24' } }], ports: [27017, 27018] },
        nats: { to: [{ ipBlock: { cidr: '10.0.1.0/24' } }] },
        notices: { to: [{ ipBlock: { cidr: '192.0.2.7/32' } }], ports: [8443] },
        otlp: { to: [{ namespaceSelector: { matchLabels: { name: 'observability' } } }] },
      },
      tracing: { endpoint: 'http://collector.observability:4318' },
      metrics: { labels: { release: 'prometheus' }, runbookUrl: 'https://wiki.example.com/runbook' },
      pod: {
        runAsUser: null,
        labels: { team: 'brands' },
        annotations: { 'example.com/owner': 'brands' },
        nodeSelector: { 'kubernetes.io/arch': 'amd64' },
        tolerations: [{ key: 'dedicated', operator: 'Exists' }],
        affinity: { nodeAffinity: {} },
        priorityClassName: 'high',
      },
      test: { account: 'checks' },
    },
    options: { apiVersions: WITH_OPERATORS },
  },
  'a route, nothing optional': {
    values: {
      ...PLAIN,
      gateway: {},
      images: { sweep: { enabled: false } },
      httpRoute: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['api.example.com'] },
      bds: { enabled: false },
      setUp: { enabled: false },
      networkPolicy: { enabled: false },
      metrics: { annotations: false, podMonitor: 'never', rules: 'never', dashboards: 'never' },
    },
    options: { apiVersions: WITH_OPERATORS },
  },
  'an Ingress whose hosts lead to the images, too': {
    values: {
      ...PLAIN,
      gateway: {},
      ingress: { enabled: true, hosts: ['*.example.com', 'api.example.com'] },
    },
  },
  'no proof of identity': { values: { ...QUICKSTART, grpc: { transport: 'insecure_plaintext' } } },
  'monitoring asked for': {
    values: { ...PLAIN, metrics: { podMonitor: 'always', rules: 'always', dashboards: 'always' } },
  },
};
