// Steady callers, in a pod of the cluster. They fetch records of the sample catalogue from the gateway's Service, some over
// connections that they keep, some over a new one for each call. They do not repeat failed calls. On SIGUSR2 they stop and log,
// as the last line, what they saw.
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const { GATEWAY_URL, TOKENS, CALLS_PER_SECOND, CATALOGUE = '/sample/catalogue' } = process.env;
const CALLERS = 20;
const CALL_WITHIN_MS = 10_000;
const MOST_FAILURES = 200;

const tokens = TOKENS.split(',');
const names = readdirSync(CATALOGUE)
  .filter((file) => file.endsWith('.json'))
  .map((file) => JSON.parse(readFileSync(`${CATALOGUE}/${file}`)).name);
const seen = {
  calls: 0,
  byStatus: {},
  /** Number of calls answered with a record, by the token's index. */
  answered: tokens.map(() => 0),
  failures: [],
  longestMs: 0,
};
let isGoing = true;
process.on('SIGUSR2', () => {
  isGoing = false;
});

function get(path, agent) {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(CALL_WITHIN_MS);
    const request = http.get(`${GATEWAY_URL}${path}`, { agent, signal }, (response) => {
      response.on('error', reject).on('end', () => resolve(response.statusCode));
      response.resume();
    });
    request.on('error', reject);
  });
}

async function call(agent) {
  const place = seen.calls % tokens.length;
  const name = names[Math.floor(Math.random() * names.length)];
  seen.calls += 1;
  const began = performance.now();
  const outcome = await get(`/v1/brands/${encodeURIComponent(name)}?token=${tokens[place]}`, agent).catch(
    (error) => error.code ?? error.name,
  );
  const tookMs = performance.now() - began;
  seen.longestMs = Math.max(seen.longestMs, tookMs);
  seen.byStatus[outcome] = (seen.byStatus[outcome] ?? 0) + 1;
  if (outcome === 200) seen.answered[place] += 1;
  else if (seen.failures.length < MOST_FAILURES)
    seen.failures.push({ at: new Date().toISOString(), outcome, name, tookMs: Math.round(tookMs) });
}

async function keepCalling(place) {
  const isKept = place % 4 !== 0;
  const agent = isKept ? new http.Agent({ keepAlive: true, maxSockets: 1 }) : false;
  while (isGoing) {
    await call(agent);
    await delay((1_000 * CALLERS * (0.5 + Math.random())) / Number(CALLS_PER_SECOND));
  }
  if (agent) agent.destroy();
}

const progress = setInterval(
  () => console.log(JSON.stringify({ calls: seen.calls, byStatus: seen.byStatus })),
  10_000,
);
await Promise.all(Array.from({ length: CALLERS }, (_, place) => keepCalling(place)));
clearInterval(progress);
console.log(JSON.stringify(seen));
