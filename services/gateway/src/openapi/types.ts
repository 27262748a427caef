/** The shape of the OpenAPI document, for those who read it. */

/** A JSON Schema with the keywords that the document uses. */
export interface Schema {
  $ref?: string;
  description?: string;
  type?: string | readonly string[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[] | undefined;
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  enum?: readonly unknown[];
  const?: unknown;
  examples?: readonly unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
}

interface Example {
  summary?: string;
  value: unknown;
}

export interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, Example>;
}

export interface Header extends Media {
  description: string;
  required?: boolean;
}

export interface Parameter extends Header {
  name: string;
  in: string;
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, Media>;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: readonly string[];
  /** Absent: the operation needs a token. */
  security?: readonly [];
  parameters?: readonly Parameter[];
  responses: Readonly<Record<string, ResponseObject>>;
}

export interface OpenApi {
  info: { description: string; contact?: { url?: string; email?: string }; termsOfService?: string };
  tags: readonly { name: string; description: string }[];
  paths: Record<string, { get: Operation }>;
  components: {
    securitySchemes: { token: { description: string } };
    headers: Record<string, Header>;
    schemas: Record<string, Schema>;
  };
}
