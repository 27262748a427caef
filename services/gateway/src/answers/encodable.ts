import { compress, type Encoding } from '@brand-data/runtime/http';

/** A body that callers get in the encoding that they accept. */
export interface Encodable {
  body: Buffer;
  /** Compressed bodies, or promises of them. Each is made when the first caller accepts it. */
  encoded: Partial<Record<Encoding, Buffer | Promise<Buffer>>>;
}

/** Returns the body's bytes in an encoding. Each encoding is compressed once. */
export function encodeBody(text: Encodable, encoding: Encoding): Promise<Buffer> | Buffer {
  if (encoding === 'identity') return text.body;
  text.encoded[encoding] ??= compressFirst(text, encoding);
  return text.encoded[encoding];
}

async function compressFirst(text: Encodable, encoding: Exclude<Encoding, 'identity'>): Promise<Buffer> {
  const compressed = await compress(text.body, encoding);
  text.encoded[encoding] = compressed;
  return compressed;
}
