import { isMonth, type MeteringServiceClient, MonthUsage, Route } from '@brand-data/contracts';
import { IDENTIFIER_KINDS } from '@brand-data/identifiers';
import { encodeProblem } from '@brand-data/runtime/http';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROBLEMS, type ProblemCode } from '../src/answers/problem.ts';
import { identifierFromSegment } from '../src/calls/answer-call.ts';
import { createUsageAnswers } from '../src/calls/answer-usage.ts';
import { IMAGE_CHOICES } from '../src/calls/parameters.ts';
import { usageSchema } from '../src/calls/usage-schema.ts';
import { EXAMPLE_DOCS_URL, openApiDocument } from '../src/openapi/document.ts';
import type { Path } from '../src/openapi/responses.ts';
import type { Header, OpenApi, Schema } from '../src/openapi/types.ts';
import { KIND, STRENGTH } from '../src/records/catalog-answer.ts';
import { createPublicApi } from './public-api.ts';
import { manualClock, unaryMethod } from './stand-ins.ts';

const json = openApiDocument({ docsUrl: EXAMPLE_DOCS_URL, logoHost: 'https://api.example.com/images' });
const document: OpenApi = JSON.parse(json);

const ajv = formats.default(new Ajv2020({ strict: false, allErrors: true }));
// Clients must accept fields of later versions. What this version answers has no fields but the described ones.
const closed = JSON.parse(json, (_, node) =>
  node?.type === 'object' && node.properties ? { ...node, additionalProperties: false } : node,
);
ajv.addSchema(closed, 'openapi.json');
const compiled = new Map<string, ReturnType<typeof ajv.compile>>();
/** Returns what is wrong with the value. Undefined if nothing is. */
function flawOf(schema: object, value: unknown): string | undefined {
  const text = JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/');
  const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
  compiled.set(text, validate);
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}

const responsesOf = (path: string) => document.paths[path]?.get.responses ?? {};
const allResponses = Object.keys(document.paths).flatMap((path) =>
  Object.entries(responsesOf(path)).map(([status, response]) => ({ path, status, response })),
);
const headerAt = ({ $ref }: { $ref: string }) =>
  document.components.headers[$ref.split('/').at(-1) ?? ''] as Header;

describe('the OpenAPI document', () => {
  test("keeps Redocly's recommended rules, without a warning", async () => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      // The address of an image leads on: it answers 302.
      rules: { 'operation-2xx-response': 'off' },
    });
    const found = await lintFromString({ source: json, absoluteRef: 'openapi.json', config });
    expect(found.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  });

  test('has only examples that its schemas allow', () => {
    const flaws = allResponses.flatMap(({ path, status, response }) =>
      Object.values(response.content ?? {}).flatMap(({ schema, example, examples = {} }) =>
        [...Object.values(examples).map(({ value }) => value), ...(example === undefined ? [] : [example])]
          .map((value) => flawOf(schema, value))
          .filter((flaw) => flaw !== undefined)
          .map((flaw) => `${path} ${status}: ${flaw}`),
      ),
    );
    expect(flaws).toEqual([]);
    for (const [name, { schema, example }] of Object.entries(document.components.headers))
      expect([name, flawOf(schema, example)]).toEqual([name, undefined]);
  });

  test('lets later versions add fields, and needs no choice between schemas for a value that may be null', () => {
    expect(json).not.toContain('additionalProperties');
    expect(document.components.schemas.FlatRecord?.properties?.price).toMatchObject({
      type: ['number', 'null'],
    });
    expect(json).not.toMatch(/"anyOf":\[\{"type":"\w+"[^[\]]*\},\{"type":"null"\}\]/);
  });

  test('names the server by its public URL, where the gateway knows it', () => {
    const publicUrl = 'https://example.com/brands';
    const { servers } = JSON.parse(
      openApiDocument({ docsUrl: '', logoHost: 'https://example.com/images', publicUrl }),
    );
    expect(servers).toEqual([{ url: publicUrl }]);
  });

  test('says whom to ask and what the terms are, where the operator has said so', () => {
    const infoOf = (said: object) => JSON.parse(openApiDocument({ docsUrl: '', logoHost: '', ...said })).info;
    expect(infoOf({ contact: 'help@example.com', termsUrl: 'https://example.com/terms' })).toMatchObject({
      contact: { email: 'help@example.com' },
      termsOfService: 'https://example.com/terms',
    });
    const url = 'https://example.com/help';
    expect(infoOf({ contact: url }).contact).toEqual({ url });
    expect(Object.keys(infoOf({ contact: '', termsUrl: '' }))).toEqual(Object.keys(infoOf({})));
  });

  test('has the token among the parameters of each operation that needs one, and of no other', () => {
    for (const [path, { get }] of Object.entries(document.paths)) {
      const names = get.parameters?.map(({ name }) => name) ?? [];
      expect([path, names.includes('token')]).toEqual([path, get.security === undefined]);
    }
  });

  test('has an example of every error code', () => {
    const shown = new Set(
      allResponses.flatMap(({ response }) =>
        Object.keys(response.content?.['application/problem+json']?.examples ?? {}),
      ),
    );
    // It belongs to no operation.
    expect([...shown, 'route_not_found'].toSorted()).toEqual(Object.keys(PROBLEMS).toSorted());
  });

  test('names every error code, and every kind and strength of a match', () => {
    expect(document.components.schemas.ProblemCode?.enum).toEqual(Object.keys(PROBLEMS));
    const [kinds, strengths] = [KIND, STRENGTH].map((names) => Object.values(names).join('|'));
    expect(document.components.headers['Brand-Match']?.schema.pattern).toBe(
      `^kind=(${kinds}), value=%?"[ -~]*", strength=(${strengths})$`,
    );
  });

  test('gives each part of a record a name of its own, for generated code', () => {
    const names = Object.keys(document.components.schemas);
    for (const name of ['GroupedRecord', 'StockRecord', 'BrandRecord', 'SuperinvestorRecord', 'FlatRecord'])
      expect(names).toContain(name);
    expect(document.components.schemas.GroupedRecord).toMatchObject({
      discriminator: { mapping: { stock: '#/components/schemas/StockRecord' } },
    });
  });
});

describe('an answer is as the document says: its status, its headers and its body', () => {
  const api = createPublicApi();
  let url: string;
  beforeAll(async () => {
    url = `http://127.0.0.1:${await api.listen()}`;
  });
  afterAll(api.close);

  const BRAND = '/v1/brands/{identifier}';
  const LOGO = '/api/logos/{identifier}/info';
  const IMAGE = '/api/logos/{identifier}';
  const at = (path: string, called: string) => {
    const [segment = '', query] = called.split('?');
    return path.replace('{identifier}', segment) + (query === undefined ? '' : `?${query}`);
  };
  const ofRecords = [BRAND, LOGO, IMAGE].flatMap((path): [Path, string, number, ProblemCode?][] => [
    ...['Acme?token=good', 'Priced?token=good', 'Nestl%C3%A9?token=rated', 'Acme?token=new'].map(
      (called): [Path, string, number] => [path as Path, at(path, called), path === IMAGE ? 302 : 200],
    ),
    [path as Path, at(path, 'a%0Ab?token=good'), 400, 'identifier_invalid'],
    [path as Path, at(path, 'Acme?token=good&kind=no'), 400, 'parameter_invalid'],
    [path as Path, at(path, 'Acme'), 401, 'token_missing'],
    [path as Path, at(path, 'Acme?token=bad'), 401, 'token_invalid'],
    [path as Path, at(path, 'Acme?token=listed'), 403, 'origin_not_allowed'],
    [path as Path, at(path, 'No%20Such%20Apple?token=good'), 404],
    [path as Path, at(path, 'Acme?token=spent'), 429, 'quota_exceeded'],
    [path as Path, at(path, 'Acme?token=fast'), 429, 'rate_limited'],
    [path as Path, at(path, 'Acme?token=untried'), 429],
    [path as Path, at(path, 'Acme?token=defect'), 500, 'internal'],
    [path as Path, at(path, 'Acme?token=crowded'), 503, 'overloaded'],
    [path as Path, at(path, 'catalog-away?token=good'), 503, 'upstream_unavailable'],
    [path as Path, at(path, 'Acme?token=not-recorded'), 503],
  ]);
  const CALLS: [Path, string, number, ProblemCode?][] = [
    ...ofRecords,
    [BRAND, at(BRAND, 'Acme?token=free'), 403, 'plan_required'],
    [IMAGE, at(IMAGE, 'No%20Such?token=good&fallback=monogram&theme=dark'), 302],
    ['/v1/search', '/v1/search?q=acme%20&limit=2&token=free', 200],
    ['/v1/search', '/v1/search?q=&token=good', 400],
    ['/v1/search', '/v1/search?q=a&limit=11&token=good', 400],
    ['/v1/search', '/v1/search?q=a', 401, 'token_missing'],
    ['/v1/search', '/v1/search?q=a&token=listed', 403, 'origin_not_allowed'],
    ['/v1/search', '/v1/search?q=a&token=fast', 429, 'rate_limited'],
    ['/v1/search', '/v1/search?q=a&token=crowded', 503, 'overloaded'],
    ['/v1/search', '/v1/search?q=catalog-away&token=good', 503, 'upstream_unavailable'],
    ['/v1/usage', '/v1/usage?token=good', 200],
    ['/v1/usage', '/v1/usage?token=good&month=1999-01', 400, 'month_invalid'],
    ['/v1/usage', '/v1/usage', 401, 'token_missing'],
    ['/v1/usage', '/v1/usage?token=listed', 403, 'origin_not_allowed'],
    ['/v1/usage', '/v1/usage?token=accounts-away', 503, 'upstream_unavailable'],
    ['/openapi.json', '/openapi.json', 200],
    ['/docs/errors', '/docs/errors', 200],
  ];

  /** Headers of the connection and the body, which OpenAPI leaves to HTTP. */
  const OF_HTTP = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'];

  function expectDescribed(path: Path, answer: Response, body: string): void {
    const response = responsesOf(path)[answer.status];
    expect(response, `${path} may answer ${answer.status}`).toBeDefined();
    const described = Object.entries(response?.headers ?? {});
    const names = described.map(([name]) => name.toLowerCase());
    expect([...answer.headers.keys()].filter((name) => ![...names, ...OF_HTTP].includes(name))).toEqual([]);
    for (const [name, reference] of described) {
      const { schema, required = false } = headerAt(reference);
      const value = answer.headers.get(name);
      if (value === null) expect([name, required]).toEqual([name, false]);
      else {
        const read = 'type' in schema && schema.type === 'integer' ? Number(value) : value;
        expect([name, value, flawOf(schema, read)]).toEqual([name, value, undefined]);
      }
    }
    const [type = '', media] = Object.entries(response?.content ?? {})[0] ?? [];
    expect(answer.headers.get('content-type')?.split(';')[0] ?? '').toBe(type);
    if (media === undefined) expect(body).toBe('');
    else expect(flawOf(media.schema, type.endsWith('json') ? JSON.parse(body) : body)).toBeUndefined();
  }

  test('a blocked client is answered with 403 on every route', async () => {
    const blocking = createPublicApi({ blocked: ['127.0.0.1'] });
    const port = await blocking.listen();
    for (const path of [
      BRAND,
      LOGO,
      IMAGE,
      '/v1/search',
      '/v1/usage',
      '/openapi.json',
      '/docs/errors',
    ] as Path[]) {
      const answer = await fetch(`http://127.0.0.1:${port}${at(path, 'Acme')}`);
      expect(answer.status).toBe(403);
      const body = await answer.text();
      expect(JSON.parse(body).code).toBe('address_blocked');
      expectDescribed(path, answer, body);
    }
    await blocking.close();
  });

  test.each(['POST', 'DELETE'])('%s is answered with 405', async (method) => {
    const answer = await fetch(`${url}/v1/usage`, { method });
    expect(answer.status).toBe(405);
    expectDescribed('/v1/usage', answer, await answer.text());
  });

  test.each(CALLS)('%s: %s is answered with %i', async (path, target, status, code) => {
    const answer = await fetch(`${url}${target}`, { redirect: 'manual' });
    const body = await answer.text();
    expect(answer.status).toBe(status);
    expectDescribed(path, answer, body);
    if (code === undefined) return;
    const media = responsesOf(path)[status]?.content?.['application/problem+json'];
    const example = media?.examples?.[code]?.value as Record<string, string> | undefined;
    const { type, request_id } = JSON.parse(body);
    expect({ ...JSON.parse(body), type: `https://api.example.com${type}` }).toEqual({
      ...example,
      request_id,
    });
  });

  test.each([BRAND, LOGO, '/v1/search', '/openapi.json', '/docs/errors'] as Path[])(
    '%s: 304 if the caller has the body',
    async (path) => {
      const target = `${url}${at(path, 'Acme')}?token=good&q=acme`;
      const etag = (await fetch(target)).headers.get('etag') ?? '';
      const answer = await fetch(target, { headers: { 'if-none-match': etag } });
      expect(answer.status).toBe(304);
      expectDescribed(path, answer, await answer.text());
    },
  );

  test('each operation is a route', () => {
    for (const path of Object.keys(document.paths))
      expect([
        path,
        api.app.hasRoute({ method: 'GET', url: path.replace('{identifier}', ':identifier') }),
      ]).toEqual([path, true]);
  });

  test('the document itself needs no token, is never counted, and is relative to where it is', async () => {
    const answer = await fetch(`${url}/openapi.json`, { headers: { origin: 'https://app.example.com' } });
    expect(answer.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(answer.headers.get('x-quota-charged')).toBeNull();
    const { servers, security } = (await answer.json()) as { servers: { url: string }[]; security: object[] };
    expect(new URL(servers[0]?.url ?? '', 'https://example.com/brands/openapi.json').href).toBe(
      'https://example.com/brands/',
    );
    expect(security).toEqual([{ token: [] }]);
  });
});

describe('what the gateway accepts and answers is what the schemas allow', () => {
  const schemaOf = (path: string): Schema => document.paths[path]?.get.parameters?.[0]?.schema ?? {};
  const [identifierSchema, monthSchema] = [schemaOf('/v1/brands/{identifier}'), schemaOf('/v1/usage')];
  const accepts = (identifier: string) => {
    try {
      return identifierFromSegment({ segment: encodeURIComponent(identifier) }) === identifier;
    } catch {
      return false;
    }
  };

  test('an identifier is accepted exactly if its schema allows it', () => {
    const control = fc.integer({ min: 0, max: 0xa0 }).map((code) => String.fromCharCode(code));
    const long = fc.integer({ min: 250, max: 260 }).map((length) => '😀'.repeat(length));
    const any = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed());
    fc.assert(
      fc.property(
        fc.oneof(
          any,
          long,
          fc.tuple(any, control, any).map((parts) => parts.join('')),
        ),
        (text) => {
          expect(accepts(text)).toBe(flawOf(identifierSchema, text) === undefined);
        },
      ),
    );
  });

  test('the kinds and forms that the document names are those that identifiers and images have', () => {
    const kind = document.paths['/v1/brands/{identifier}']?.get.parameters?.[1];
    expect(kind?.schema.enum).toEqual(IDENTIFIER_KINDS);
    const ofImages = document.paths['/api/logos/{identifier}']?.get.parameters ?? [];
    for (const [name, values] of Object.entries(IMAGE_CHOICES))
      expect(ofImages.find((parameter) => parameter.name === name)?.schema.enum).toEqual(values.map(String));
  });

  test('a month is accepted exactly if its schema allows it', () => {
    const month = fc.oneof(fc.stringMatching(/^\d{4}-\d{2}$/), fc.string());
    fc.assert(fc.property(month, (text) => isMonth(text) === (flawOf(monthSchema, text) === undefined)));
  });

  test('every problem has the members of its schema, and no others', () => {
    const code = fc.constantFrom(...(Object.keys(PROBLEMS) as ProblemCode[]));
    const suggestions = fc.option(
      fc.array(fc.record({ name: fc.string(), identifier: fc.string() }), { maxLength: 3 }),
      { nil: undefined },
    );
    fc.assert(
      fc.property(code, fc.string(), fc.uuid(), suggestions, (code, detail, requestId, suggested) => {
        const problem = { code, detail, headers: {}, ...(suggested && { more: { suggestions: suggested } }) };
        const { body } = encodeProblem(problem, PROBLEMS, { docsUrl: '/docs/errors', requestId });
        expect(
          flawOf(document.components.schemas.Problem ?? {}, JSON.parse(body.toString())),
        ).toBeUndefined();
      }),
    );
  });

  test('every answer about usage has the members of its schema, and no others', async () => {
    const day = fc.date({ min: new Date('2020'), max: new Date('2030'), noInvalidDate: true });
    const cell = fc.record({
      keyId: fc.string(),
      route: fc.constantFrom(Route.BRANDS, Route.LOGOS, Route.UNSPECIFIED),
      status: fc.constantFrom(0, 200, 304, 404),
      day: day.map((date) => date.toISOString().slice(0, 10)),
      count: fc.nat(),
    });
    const pool = fc.record({ pool: fc.string(), limit: fc.nat(), used: fc.nat(), cells: fc.array(cell) });
    const usage = fc.record({ final: fc.boolean(), complete: fc.boolean(), pools: fc.array(pool) });
    const credential = {
      accountId: 'acme',
      keyId: 'key-1',
      plan: 'team',
      allowedOrigins: [],
      limitRevision: 1,
      routes: [{ route: Route.BRANDS, pool: 'calls', allowance: 10 }],
      expiresAtMs: undefined,
      allowance: '',
      allowanceUntilMs: 0,
    };
    await fc.assert(
      fc.asyncProperty(usage, async (read) => {
        const readUsage = unaryMethod(async () => ({ usage: MonthUsage.fromPartial(read) }));
        const answers = createUsageAnswers({ readUsage } as unknown as MeteringServiceClient, manualClock());
        const { body } = await answers(credential, '2026-11');
        expect(Value.Check(usageSchema as TSchema, JSON.parse(body?.toString() ?? ''))).toBe(true);
      }),
    );
  });
});
