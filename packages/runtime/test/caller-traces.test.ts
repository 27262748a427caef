import {
  type Context,
  isSpanContextValid,
  type SpanOptions,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { ConfigError, configSpec, parseConfig } from '../src/config/config.ts';
import { inNetworks } from '../src/config/networks.ts';
import { startServerSpan } from '../src/observe/tracing.ts';

const caller = (traceFlags: number) => ({
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  traceFlags,
  isRemote: true,
});

/** Returns the caller whose decision the sampler sees, and how many spans the new span links to. */
function seenBySampler(traceFlags: number, isTrusted: boolean) {
  let seen = { parent: '', links: 0 };
  const tracer = {
    startSpan(_name: string, { links = [] }: SpanOptions, context: Context) {
      seen = { parent: trace.getSpanContext(context)?.traceId ?? '', links: links.length };
      return { isRecording: () => false };
    },
  } as unknown as Tracer;
  startServerSpan(tracer, 'GET', { caller: caller(traceFlags), isTrusted });
  return seen;
}

test.each([
  ['demands a trace', TraceFlags.SAMPLED, true, { parent: 'a'.repeat(32), links: 0 }],
  ['demands a trace', TraceFlags.SAMPLED, false, { parent: '', links: 1 }],
  ['demands none', TraceFlags.NONE, true, { parent: 'a'.repeat(32), links: 0 }],
  ['demands none', TraceFlags.NONE, false, { parent: 'a'.repeat(32), links: 0 }],
])('of a caller that %s (%i), trusted: %s, the sampler sees %o', (_, flags, isTrusted, expected) => {
  expect(isSpanContextValid(caller(flags))).toBe(true);
  expect(seenBySampler(flags, isTrusted)).toEqual(expected);
});

test.each([
  ['10.0.0.0/8, 192.0.2.7', '10.200.3.4', true],
  ['10.0.0.0/8, 192.0.2.7', '::ffff:10.200.3.4', true],
  ['10.0.0.0/8, 192.0.2.7', '192.0.2.7', true],
  ['10.0.0.0/8, 192.0.2.7', '192.0.2.8', false],
  ['2001:db8::/32', '2001:db8:1::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['0.0.0.0/0', '::1', false],
  ['', '127.0.0.1', false],
  ['10.0.0.0/8', 'nonsense', false],
  // A socket whose caller has gone has no address.
  ['10.0.0.0/8', undefined, false],
])('of the networks "%s", the address %s is in one: %s', (networks, address, expected) => {
  const spec = { NETWORKS: configSpec.networks({ default: [] }) };
  expect(inNetworks(parseConfig({ NETWORKS: networks }, spec).NETWORKS)(address)).toBe(expected);
});

test.each(['10.0.0.0/33', 'example.com', '10.0.0', '::/129'])('%s is no network', (networks) => {
  const spec = { NETWORKS: configSpec.networks({ default: [] }) };
  expect(() => parseConfig({ NETWORKS: networks }, spec)).toThrow(ConfigError);
});
