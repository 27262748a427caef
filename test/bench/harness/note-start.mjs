// A service that is started with `--import` of this file notes what its start took, in $STARTS_FOLDER/PID.json, in milliseconds since
// the process began: `node` until Node loaded this file, and `modules` until the service first opened a socket. Before that it loads
// all its modules.
import { renameSync, writeFileSync } from 'node:fs';
import net from 'node:net';

const node = performance.now();
const watched = [
  [net.Server.prototype, 'listen'],
  [net.Socket.prototype, 'connect'],
].map(([owner, method]) => ({ owner, method, original: owner[method] }));

for (const { owner, method, original } of watched)
  owner[method] = function (...given) {
    note();
    return original.apply(this, given);
  };

function note() {
  const modules = performance.now();
  for (const { owner, method, original } of watched) owner[method] = original;
  const file = `${process.env.STARTS_FOLDER}/${process.pid}.json`;
  writeFileSync(`${file}.new`, JSON.stringify({ node, modules }));
  renameSync(`${file}.new`, file);
}
