import { SpanKind } from '@opentelemetry/api';
import type { MongoClient } from 'mongodb';
import { Gauge, Histogram } from 'prom-client';
import { countBy, readAtScrape } from '../observe/metrics.ts';
import { endSpan, type Span, startChildSpan } from '../observe/tracing.ts';
import type { Service } from '../service/service.ts';

/**
 * Returns a function that measures the connection pools of a client. The driver has one pool for each server, and the metrics are
 * the sums of all pools of all clients.
 */
export function poolObserver({ metrics }: Service): (client: MongoClient) => void {
  const registers = [metrics];
  /** The clients that know a primary. While a client replaces another one, both are open. */
  const knowPrimary = new Set<MongoClient>();
  const connected = new Gauge({
    name: 'mongodb_connected',
    help: '1 while the service knows a MongoDB server that accepts writes, else 0',
    registers,
  });
  const connections = { open: 0, inUse: 0 };
  const pools = {
    name: 'mongodb_pool_connections',
    help: 'Connections to MongoDB, by state: "in_use" or "idle"',
    labelNames: ['state'],
  };
  readAtScrape(Gauge, metrics, pools, () => [
    [{ state: 'in_use' }, connections.inUse],
    [{ state: 'idle' }, Math.max(0, connections.open - connections.inUse)],
  ]);
  const waiting = new Gauge({
    name: 'mongodb_pool_waiting_operations',
    help: 'Operations that wait now for a connection to MongoDB',
    registers,
  });
  const waits = new Histogram({
    name: 'mongodb_pool_wait_duration_seconds',
    help: 'Seconds that operations waited for a connection to MongoDB',
    buckets: [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 3],
    registers,
  });
  const countFailure = countBy<string>(metrics, {
    name: 'mongodb_pool_wait_failures_total',
    help: 'Operations that got no connection to MongoDB, by reason',
    label: 'reason',
    values: ['timeout', 'connectionError', 'poolClosed'],
  });
  return (client) => {
    client.on('topologyDescriptionChanged', ({ newDescription: { servers } }) => {
      if ([...servers.values()].some(({ isWritable }) => isWritable)) knowPrimary.add(client);
      else knowPrimary.delete(client);
      connected.set(knowPrimary.size > 0 ? 1 : 0);
    });
    client.on('connectionCreated', () => connections.open++);
    client.on('connectionClosed', () => connections.open--);
    client.on('connectionCheckOutStarted', () => waiting.inc());
    client.on('connectionCheckedOut', ({ durationMS }) => {
      waiting.dec();
      connections.inUse++;
      waits.observe(durationMS / 1000);
    });
    client.on('connectionCheckOutFailed', ({ reason }) => {
      waiting.dec();
      countFailure(reason);
    });
    client.on('connectionCheckedIn', () => connections.inUse--);
  };
}

/** Opens a span for each command, without its contents. The client needs `monitorCommands`. */
export function traceCommands({ tracer }: Service, client: MongoClient): void {
  if (!tracer) return;
  // The driver ends every command that it has begun.
  const underWay = new Map<number, Span>();
  client.on('commandStarted', ({ requestId, commandName, databaseName, command }) => {
    const collection = command[commandName];
    const attributes = {
      'db.system.name': 'mongodb',
      'db.operation.name': commandName,
      'db.namespace': databaseName,
      ...(typeof collection === 'string' ? { 'db.collection.name': collection } : {}),
    };
    const span = startChildSpan(tracer, `mongodb ${commandName}`, { kind: SpanKind.CLIENT, attributes });
    if (span) underWay.set(requestId, span);
  });
  const end = (requestId: number, error?: string) => {
    const span = underWay.get(requestId);
    if (span) endSpan(span, error);
    underWay.delete(requestId);
  };
  client.on('commandSucceeded', ({ requestId }) => end(requestId));
  client.on('commandFailed', ({ requestId, failure }) => end(requestId, failure.name));
}
