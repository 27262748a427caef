import {
  ACCOUNT_BEATS_SUBJECTS,
  ACCOUNT_CHANGES_CONSUMER,
  ACCOUNT_CHANGES_STREAM,
  ACCOUNT_CHANGES_SUBJECTS,
  AUDIT_CONSUMER,
  AUDIT_STREAM,
  auditSubject,
  CATALOG_CHANGES_SUBJECT,
  DEAD_LETTER_STREAM,
  GATEWAY_DEMAND_SUBJECT,
  MOST_USAGE_STREAMS,
  NOTICES_STREAM,
  NOTICES_SUBJECTS,
  PARKED_USAGE,
  RECALLS_SUBJECT,
  USAGE_CONSUMER,
  USAGE_DEAD_LETTER_SUBJECT,
  USAGE_NEWS_SUBJECT,
  USAGE_SUBJECTS,
  usageStreams,
} from './bus.ts';

/** The services. Each has its own user on NATS and, if it has a database, on MongoDB. The user has the service's name. */
export const SERVICES = ['gateway', 'accounts', 'catalog', 'metering', 'images'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** The services that have a database. */
export const DATABASE_SERVICES = ['accounts', 'catalog', 'metering', 'images'] as const;
export type DatabaseService = (typeof DATABASE_SERVICES)[number];

/**
 * Returns the prefix of the subjects at which a service gets replies. Only this service's user may subscribe to them, so no other
 * service can read its replies. It begins with the prefix that clients have by default, so that rights on `_INBOX.>` include it.
 */
export function inboxPrefixOf(service: string): string {
  return `_INBOX.${service}`;
}

const API = '$JS.API';
/** The client library asks for it before it uses JetStream. */
const JETSTREAM = `${API}.INFO`;

const infoOf = (stream: string) => `${API}.STREAM.INFO.${stream}`;

/** Returns the rights of a stream's owner: at each start, a service creates its streams or changes their settings. */
const ownerOf = (stream: string) => [
  infoOf(stream),
  `${API}.STREAM.CREATE.${stream}`,
  `${API}.STREAM.UPDATE.${stream}`,
];

/** Returns the rights to make a durable consumer. */
const makerOf = (stream: string, consumer: string) => [
  `${API}.CONSUMER.CREATE.${stream}.${consumer}`,
  `${API}.CONSUMER.DURABLE.CREATE.${stream}.${consumer}`,
  `${API}.CONSUMER.INFO.${stream}.${consumer}`,
];

/** Returns the rights to make a durable consumer and to take messages from it. */
const consumerOf = (stream: string, consumer: string) => [
  ...makerOf(stream, consumer),
  `${API}.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
  `$JS.ACK.${stream}.${consumer}.>`,
  // The form of acknowledgements that names the server's domain and account, too.
  `$JS.ACK.*.*.${stream}.${consumer}.>`,
];

const USAGE_STREAMS = usageStreams(MOST_USAGE_STREAMS).map(({ name }) => name);

const PUBLISH: Readonly<Record<ServiceName, readonly string[]>> = {
  gateway: [
    USAGE_SUBJECTS,
    ACCOUNT_BEATS_SUBJECTS,
    GATEWAY_DEMAND_SUBJECT,
    JETSTREAM,
    ...USAGE_STREAMS.map(infoOf),
  ],
  accounts: [
    ACCOUNT_CHANGES_SUBJECTS,
    JETSTREAM,
    ...ownerOf(ACCOUNT_CHANGES_STREAM),
    ...makerOf(ACCOUNT_CHANGES_STREAM, ACCOUNT_CHANGES_CONSUMER),
    ...ownerOf(AUDIT_STREAM),
    ...consumerOf(AUDIT_STREAM, AUDIT_CONSUMER),
  ],
  catalog: [CATALOG_CHANGES_SUBJECT, auditSubject('catalog'), JETSTREAM],
  metering: [
    RECALLS_SUBJECT,
    USAGE_NEWS_SUBJECT,
    auditSubject('metering'),
    // Metering puts markers into the streams of usage, to know how far it has read.
    USAGE_SUBJECTS,
    PARKED_USAGE.subjects,
    USAGE_DEAD_LETTER_SUBJECT,
    NOTICES_SUBJECTS,
    JETSTREAM,
    `${API}.STREAM.NAMES`,
    ...ownerOf(DEAD_LETTER_STREAM),
    ...ownerOf(NOTICES_STREAM),
    ...[...USAGE_STREAMS, PARKED_USAGE.name].flatMap((stream) => [
      ...ownerOf(stream),
      // Metering removes messages that it has applied, to make room.
      `${API}.STREAM.PURGE.${stream}`,
      `${API}.DIRECT.GET.${stream}`,
      ...consumerOf(stream, USAGE_CONSUMER),
    ]),
  ],
  images: [auditSubject('images'), JETSTREAM],
};

/** In addition to the service's own replies. */
const SUBSCRIBE: Readonly<Partial<Record<ServiceName, readonly string[]>>> = {
  gateway: [CATALOG_CHANGES_SUBJECT, RECALLS_SUBJECT, USAGE_NEWS_SUBJECT, GATEWAY_DEMAND_SUBJECT],
};

/** Returns the variable of nats-server's configuration that holds the password of the service's user. */
export function natsPasswordVariable(service: ServiceName): string {
  return `${service.toUpperCase()}_NATS_PASSWORD`;
}

/**
 * Returns a user in nats-server's configuration, with the least rights with which the service does all its work. The server refuses
 * all other subjects.
 *
 * @param password as it is in the configuration: a variable, or a text in quotation marks
 */
export function natsUser(
  service: ServiceName,
  user: string = service,
  password = `$${natsPasswordVariable(service)}`,
): string {
  const list = (subjects: readonly string[]) =>
    subjects.map((subject) => `      ${JSON.stringify(subject)}`).join('\n');
  return `{
  user: ${user}
  password: ${password}
  permissions: {
    publish: [
${list(PUBLISH[service])}
    ]
    subscribe: [
${list([...(SUBSCRIBE[service] ?? []), `${inboxPrefixOf(service)}.>`])}
    ]
  }
}`;
}

/**
 * Returns the part of nats-server's configuration that makes a user for each service. The passwords are variables, which another
 * file or the server's environment sets.
 *
 * @param more users for other purposes, as lines of the configuration
 */
export function natsAuthorization(more: readonly string[] = []): string {
  const users = SERVICES.map((service) => natsUser(service));
  return `authorization {
  users: [
${[...users, ...more].map((each) => each.replaceAll(/^/gm, '    ')).join('\n')}
  ]
}
`;
}

/**
 * Returns the role on MongoDB that holds a service's rights, in the database `admin`: the arguments of the command `createRole`. They
 * are the least rights with which the service does all its work: it reads and writes its own database, which includes creating
 * collections and indexes. Accounts and catalog also read how long transactions may last.
 *
 * @param database the service's database, which gives the role its name
 */
export function mongodbRoleOf(service: DatabaseService, database: string) {
  const checksTransactions = service === 'accounts' || service === 'catalog';
  return {
    role: database,
    privileges: checksTransactions ? [{ resource: { cluster: true }, actions: ['getParameter'] }] : [],
    roles: [{ role: 'readWrite', db: database }],
  };
}
