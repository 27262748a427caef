// A service that is started with `--import` of this file counts the work that hot-call.test.ts asks about. At SIGWINCH it writes the
// counts so far to $COUNTS_FOLDER/PID.json.
import { createHook } from 'node:async_hooks';
import crypto from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import zlib from 'node:zlib';

const counts = {};

/** Counts the calls of these methods under one name. */
function count(name, owner, methods) {
  counts[name] ??= 0;
  for (const method of methods) {
    const original = owner[method];
    owner[method] = function (...given) {
      counts[name] += 1;
      return original.apply(this, given);
    };
  }
}

count('encodings of JSON', JSON, ['stringify']);
count('decodings of JSON', JSON, ['parse']);
count('compressions', zlib, ['gzip', 'gzipSync', 'deflate', 'brotliCompress', 'brotliCompressSync']);
count('digests', crypto, ['hash', 'createHash', 'createHmac']);
count('signatures', crypto, ['sign', 'verify', 'createSign', 'createVerify']);
count('timers', globalThis, ['setTimeout', 'setInterval']);
count('timers', timers, ['setTimeout', 'setInterval']);
count('timers', timersPromises, ['setTimeout']);
count('headers set one by one', http.OutgoingMessage.prototype, ['setHeader', 'appendHeader', 'setHeaders']);
count('heads made by Node', http.ServerResponse.prototype, ['writeHead']);
count('buffers made into text', Buffer.prototype, ['toString']);
count('buffers', Buffer, ['from', 'alloc', 'allocUnsafe', 'allocUnsafeSlow', 'concat']);
count('writes', net.Socket.prototype, ['write']);
count('writes before the end', http.OutgoingMessage.prototype, ['write']);

counts.RPCs = 0;
const { connect } = http2;
http2.connect = (...given) => {
  const session = connect(...given);
  count('RPCs', session, ['request']);
  return session;
};

counts.promises = 0;
createHook({
  init(_id, type) {
    if (type === 'PROMISE') counts.promises += 1;
  },
}).enable();

syncBuiltinESMExports();

process.on('SIGWINCH', () => {
  const file = `${process.env.COUNTS_FOLDER}/${process.pid}.json`;
  writeFileSync(`${file}.new`, JSON.stringify(counts));
  renameSync(`${file}.new`, file);
});
