/** A line of a file as it stands there, without its end. */
export interface Line {
  /** From 1. */
  number: number;
  bytes: Buffer;
  /** It is longer than MAX_LINE_BYTES, and `bytes` are only its beginning. */
  cut?: true;
}

/** An entity has some megabytes at the most. */
const MAX_LINE_BYTES = 64 << 20;

const NEWLINE = 0x0a;

/** The lines that end in each chunk; at the end of all the last one, which may have no end. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let number = 0;
  let held: Buffer[] = [];
  let heldBytes = 0;
  let isCut = false;

  const hold = (bytes: Buffer) => {
    if (heldBytes + bytes.length > MAX_LINE_BYTES) isCut = true;
    else {
      held.push(bytes);
      heldBytes += bytes.length;
    }
  };
  const take = (end: Buffer): Line => {
    number++;
    if (heldBytes === 0 && !isCut) return { number, bytes: end };
    hold(end);
    const line: Line = { number, bytes: Buffer.concat(held), ...(isCut && { cut: true }) };
    held = [];
    heldBytes = 0;
    isCut = false;
    return line;
  };

  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      lines.push(take(chunk.subarray(start, end)));
      start = end + 1;
    }
    if (start < chunk.length) hold(chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (heldBytes > 0) yield [take(Buffer.alloc(0))];
}
