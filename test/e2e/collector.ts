import { text } from 'node:stream/consumers';
import { startWebServer } from '@brand-data/testing/web-server';

/** A span that a collector received, with the name of its service. */
export interface CollectedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  attributes: Record<string, string | number>;
  links: string[];
}

export type Collector = Awaited<ReturnType<typeof startCollector>>;

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number | string };
}

interface Export {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: (Pick<CollectedSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'name'> & {
        attributes: Attribute[];
        links?: { traceId: string }[];
      })[];
    }[];
  }[];
}

/** Receives traces by OTLP over HTTP, as JSON, and keeps them. */
export async function startCollector() {
  const spans: CollectedSpan[] = [];
  let received = '';
  const server = await startWebServer(async (request, response) => {
    const body = await text(request);
    received += body;
    if (request.url === '/v1/traces') spans.push(...spansOf(JSON.parse(body)));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  return {
    ...server,
    spans,
    /** Returns the bodies of all requests, unparsed. */
    received: () => received,
  };
}

function spansOf({ resourceSpans }: Export): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId, name, attributes, links = [] }) => ({
        traceId,
        spanId,
        parentSpanId,
        name,
        service: String(valuesOf(resource.attributes)['service.name']),
        attributes: valuesOf(attributes),
        links: links.map((link) => link.traceId),
      })),
    ),
  );
}

function valuesOf(attributes: Attribute[]): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  );
}
