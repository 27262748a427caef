import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fullStock } from '../e2e/fixtures.ts';
import { operatorOf } from '../e2e/operator.ts';
import { startMongodCluster, startNatsCluster } from '../stack/clusters.ts';
import { createApiClient, isCounted, nameOf } from './api-call.ts';
import { judge, newLedger } from './ledger.ts';
import { type Seen, startLoad } from './load.ts';
import { ANSWERED_WITHIN_MS, callFor, type Need } from './outages.ts';
import { startFaultStack } from './stack.ts';
import { UNLIMITED } from './traffic.ts';

/** MongoDB's members wait for a primary's heartbeat for 10 s, NATS' for a leader's for some seconds. */
const ELECTED_WITHIN_MS = 30_000;
const WHOLE_WITHIN_MS = 60_000;
const BILLED_WITHIN_MS = 90_000;
/** Nobody waits for a follower: it is away until the others have noticed. */
const FOLLOWER_AWAY_MS = 15_000;

/** A member of a cluster is lost, and stays away until the others have gone on without it. */
interface Election {
  name: string;
  cluster: 'mongodb' | 'nats';
  member: 'leader' | 'follower';
  how: 'killed' | 'frozen';
}

const ELECTIONS: Election[] = (['killed', 'frozen'] as const).flatMap((how): Election[] => [
  { name: `MongoDB's primary ${how}`, cluster: 'mongodb', member: 'leader', how },
  { name: `a secondary of MongoDB ${how}`, cluster: 'mongodb', member: 'follower', how },
  { name: `NATS' leader of the usage stream ${how}`, cluster: 'nats', member: 'leader', how },
  { name: `a follower of NATS ${how}`, cluster: 'nats', member: 'follower', how },
]);

interface ElectionResult {
  /** What is against the promises; empty: nothing. */
  broken: string[];
  calls: number;
  longestMs: number;
  /** From the loss until what needs the servers is answered, with the member still away. */
  electedMs: number | undefined;
}

/** Two gateways and two metering replicas on three mongods and three nats-servers, under the load of `outages`. */
interface ElectionStand {
  run(election: Election): Promise<ElectionResult>;
  /** Ends the load; holds all that was seen against what is billed. */
  stop(): Promise<string[]>;
}

async function startElectionStand(warmUpMs: number, say: (line: string) => void): Promise<ElectionStand> {
  const dataDir = await mkdtemp(join(tmpdir(), 'brand-data-clusters-'));
  const ends: (() => unknown)[] = [() => rm(dataDir, { recursive: true, force: true, maxRetries: 3 })];
  const end = async () => {
    const errors: unknown[] = [];
    for (const each of ends.splice(0).reverse()) {
      try {
        await each();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  };
  try {
    const mongodb = await startMongodCluster(dataDir);
    ends.push(mongodb.stop);
    const nats = await startNatsCluster(dataDir);
    ends.push(nats.stop);
    const stack = await startFaultStack({
      ...{ gateways: 2, meterings: 2 },
      servers: { mongodbUrl: mongodb.url, natsUrl: nats.url },
      environment: { STREAM_REPLICAS: '3' },
    });
    ends.push(stack.stop);
    const operator = operatorOf(stack);
    ends.push(operator.close);
    const client = createApiClient();
    ends.push(client.close);
    await operator.putBrands([fullStock]);
    const { accountId, token, keyId } = await operator.newAccount(UNLIMITED);
    const ledger = newLedger(UNLIMITED, keyId);
    const prober = await operator.newAccount(UNLIMITED);
    const load = startLoad(stack, client, ledger, token);
    ends.push(load.stop);
    await delay(warmUpMs);
    const isAnswered = async (need: Need, wanted: string) => {
      const ask = await callFor({ stack, operator, client, token: prober.token }, need);
      return nameOf(await ask()) === wanted;
    };

    const run = async ({ cluster: which, member, how }: Election): Promise<ElectionResult> => {
      const cluster = which === 'mongodb' ? mongodb : nats;
      const broken: string[] = [];
      const leader = await cluster.leader();
      const lost = [...cluster.members].find(([name]) => (name === leader) === (member === 'leader'));
      if (leader === undefined || lost === undefined) throw new Error(`nobody leads ${which}`);
      const [lostName, child] = lost;
      broken.push(...problemsOf(load.take(), 'before'));
      if (how === 'killed') await child.kill();
      else process.kill(child.pid ?? 0, 'SIGSTOP');
      if (member === 'follower') await delay(FOLLOWER_AWAY_MS);
      const goesOn = async () => {
        if (member === 'leader' && [undefined, lostName].includes(await cluster.leader())) return false;
        const answers = await Promise.all([
          isAnswered('a new token', '401'),
          isAnswered('an account without a grant', '200'),
          isAnswered('a record that is not cached', '404'),
        ]);
        return answers.every(Boolean);
      };
      const electedMs = await msUntil(goesOn, ELECTED_WITHIN_MS);
      if (electedMs === undefined) broken.push('the others did not go on without it');
      if (how === 'killed') await child.start();
      else process.kill(child.pid ?? 0, 'SIGCONT');
      if ((await msUntil(cluster.isWhole, WHOLE_WITHIN_MS)) === undefined)
        broken.push('the member did not come back');
      const calls = load.take();
      broken.push(...problemsOf(calls, 'meanwhile'));
      if (calls.length === 0) broken.push('no call was made meanwhile');
      const longestMs = Math.max(0, ...calls.map((call) => call.endedMs - call.beganMs));
      return { broken, calls: calls.length, longestMs, electedMs };
    };
    return {
      run,
      stop: async () => {
        try {
          await load.stop();
          const after = problemsOf(load.take(), 'at the end');
          for (const { name } of stack.gateways) await stack.restart(name);
          // What was handed to a metering replica when a leader was lost may come again.
          let bill = ['nobody told what is billed'];
          const isExact = async () => {
            const [pool] = await operator.usage(accountId);
            bill = judge(ledger, pool, false);
            return bill.length === 0;
          };
          const billedMs = await msUntil(isExact, BILLED_WITHIN_MS);
          if (billedMs !== undefined) say(`the bill is exact ${billedMs.toFixed(0)} ms after the end`);
          return [...after, ...bill];
        } finally {
          await end();
        }
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** What callers of the load should not have seen. */
function problemsOf(calls: readonly Seen[], when: string): string[] {
  const failed = calls.filter(({ outcome }) => !isCounted(outcome));
  const slow = calls.filter(({ beganMs, endedMs }) => endedMs - beganMs > ANSWERED_WITHIN_MS);
  const told = [...new Set(failed.map(({ outcome }) => nameOf(outcome)))].join(', ');
  return [
    failed.length > 0 && `${failed.length} of ${calls.length} calls ${when} were told ${told}`,
    slow.length > 0 && `${slow.length} answers ${when} took longer than ${ANSWERED_WITHIN_MS} ms`,
  ].filter((line) => typeof line === 'string');
}

/** undefined: it did not come to hold when last asked within this time. One that throws does not hold. */
async function msUntil(holds: () => Promise<boolean>, withinMs: number): Promise<number | undefined> {
  const beganMs = performance.now();
  for (;;) {
    const isSo = await holds().catch(() => false);
    const tookMs = performance.now() - beganMs;
    if (isSo) return tookMs;
    if (tookMs > withinMs) return undefined;
    await delay(200);
  }
}

/** Every election, one after the other. Gives what is against the promises. */
export async function runElections(say: (line: string) => void): Promise<string[]> {
  const stand = await startElectionStand(30_000, say);
  const violations: string[] = [];
  try {
    for (const election of ELECTIONS) {
      const { broken, calls, longestMs, electedMs } = await stand.run(election);
      say(
        `${election.name.padEnd(42)} ${calls} calls, longest ${longestMs.toFixed(0)} ms, all is answered ${electedMs?.toFixed(0)} ms after: ${broken.length === 0 ? 'as promised' : broken.join('; ')}`,
      );
      violations.push(...broken.map((line) => `${election.name}: ${line}`));
      await delay(5_000);
    }
  } finally {
    violations.push(...(await stand.stop()).map((line) => `the bill: ${line}`));
  }
  return violations;
}
