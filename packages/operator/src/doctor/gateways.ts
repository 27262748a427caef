import { foundExpiry } from '@brand-data/runtime';
import { type CheckLine, lineOf, ok, versionLine, wrong } from './services.ts';

const ANSWER_MS = 4_000;
/** The metrics of a gateway with many accounts. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

const ADVICE = {
  connection: 'check that it runs, that the URL is that of its operations port, and the network policies',
  readiness: 'see the log of the gateway, and the lines of what it names',
  nats: 'check NATS: until it is back, the gateway reports usage to metering directly, which is slower',
};

/** Asks a gateway's operations port. Never rejects because of the gateway. */
export async function examineGateway(url: string): Promise<CheckLine[]> {
  const part = url.replace(/\/$/, '');
  const [readiness, metrics] = await Promise.all([ask(`${part}/readyz`), ask(`${part}/metrics`)]);
  if (readiness === undefined)
    return [wrong(part, 'connection', 'the gateway does not answer', ADVICE.connection)];
  const reason = readiness.text.split('\n', 1)[0]?.slice(0, 200) ?? '';
  return [
    readiness.status === 200
      ? ok(part, 'readiness', 'ready')
      : wrong(part, 'readiness', reason, ADVICE.readiness),
    ...(metrics === undefined ? [] : metricLines(part, metrics.text)),
  ];
}

function metricLines(part: string, metrics: string): CheckLine[] {
  const version = /^brand_data_build_info\{[^}]*\bversion="([^"]*)"/m.exec(metrics)?.[1];
  const revision = /^brand_data_build_info\{[^}]*\brevision="([^"]*)"/m.exec(metrics)?.[1];
  const connected = /^nats_connected(?:\{[^}]*\})? ([01])$/m.exec(metrics)?.[1];
  const seconds = [...metrics.matchAll(/^grpc_certificate_remaining_seconds\{[^}]*\} (\S+)$/gm)].map(
    ([, value]) => Number(value),
  );
  return [
    ...(version === undefined ? [] : [versionLine(part, version, revision ?? '')]),
    ...(connected === undefined ? [] : [natsLine(part, connected === '1')]),
    ...(seconds.length === 0
      ? []
      : [lineOf(part, 'certificate', foundExpiry(Date.now() + Math.min(...seconds) * 1_000))]),
  ];
}

function natsLine(part: string, isConnected: boolean): CheckLine {
  return isConnected ? ok(part, 'NATS', 'connected') : wrong(part, 'NATS', 'not connected', ADVICE.nats);
}

async function ask(url: string): Promise<{ status: number; text: string } | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'error' });
    return { status: answer.status, text: (await answer.text()).slice(0, MOST_CHARACTERS) };
  } catch {
    return undefined;
  }
}
