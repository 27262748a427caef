import { type DiagnoseResponse, FindingState } from '@brand-data/contracts';
import { Fault, type Found, VERSION } from '@brand-data/runtime';
import type { Connection } from '../connection/connection.ts';
import { AddressMissing, type AdminServer } from '../connection/failures.ts';

/**
 * The result of one check. `warning`: callers notice nothing yet. `wrong`: something does not work, or will stop working soon.
 * `skipped`: the address of the part is not set.
 */
export interface CheckLine {
  state: 'ok' | 'warning' | 'wrong' | 'skipped';
  /** "accounts", "bds", "http://10.0.0.7:9090". */
  part: string;
  /** "MongoDB". */
  check: string;
  found: string;
  /** What to do. Empty if there is nothing to do. */
  advice: string;
}

export function wrong(part: string, check: string, found: string, advice: string): CheckLine {
  return { state: 'wrong', part, check, found, advice };
}

export function ok(part: string, check: string, found: string): CheckLine {
  return { state: 'ok', part, check, found, advice: '' };
}

export function lineOf(part: string, check: string, found: Found): CheckLine {
  const advice = found.state === 'ok' ? '' : found.advice;
  return { state: found.state, part, check, found: found.detail, advice };
}

/** A service makes its checks within five seconds. */
const ANSWER_MS = 6_000;
/** Proofs and passes hold for minutes. Grants are settled after seconds. */
const SKEW = { warningMs: 1_000, wrongMs: 5_000 };

const STATE: Record<FindingState, 'ok' | 'warning' | 'wrong'> = {
  [FindingState.UNSPECIFIED]: 'warning',
  [FindingState.OK]: 'ok',
  [FindingState.WARNING]: 'warning',
  [FindingState.WRONG]: 'wrong',
};

/** How far the clock of a service is ahead of this machine's, and by how much this may be wrong. */
interface ServiceClock {
  part: string;
  aheadMs: number;
  uncertainMs: number;
}

/** Resolves to a service's report about itself. `clock` is absent if the service does not answer. */
export async function examineService(
  connection: Connection,
  part: AdminServer,
): Promise<{ lines: CheckLine[]; clock?: ServiceClock }> {
  const began = Date.now();
  let answer: DiagnoseResponse;
  try {
    answer = await connection.diagnosis(part).call((client) => client.diagnose, {}, ANSWER_MS);
  } catch (error) {
    if (error instanceof AddressMissing)
      return { lines: [{ ...ok(part, 'connection', 'no address given'), state: 'skipped' }] };
    if (!(error instanceof Fault)) throw error;
    return { lines: [unreachable(part, error)] };
  }
  const tookMs = Date.now() - began;
  const { version, revision, nowMs, operator, role, findings } = answer;
  return {
    lines: [
      ok(part, 'connection', `answers in ${tookMs} ms`),
      ok(part, 'credential', `${operator}, with the role ${role}`),
      versionLine(part, version, revision),
      ...findings.map(({ what, state, detail, advice }): CheckLine => {
        return { state: STATE[state], part, check: what, found: detail, advice };
      }),
    ],
    clock: { part, aheadMs: nowMs - (began + tookMs / 2), uncertainMs: tookMs / 2 },
  };
}

/** The messages of failed calls say what is wrong, then what to do. */
function unreachable(part: string, { kind, message }: Fault): CheckLine {
  // Accounts gives operators the passes for the other services.
  if (part !== 'accounts' && message.startsWith('accounts at'))
    return {
      ...ok(part, 'connection', 'not examined: accounts gives no pass for it'),
      state: 'skipped',
      advice: 'see the lines of accounts, or use the operator token of the installation',
    };
  const check = kind === 'unauthenticated' || kind === 'permission_denied' ? 'credential' : 'connection';
  const [, found = message, advice = ''] =
    /^(.*?)[:.] ((?:[Cc]heck|[Tt]ry|upgrade|[Aa]sk|the log).*)$/s.exec(message) ?? [];
  return wrong(part, check, found, advice);
}

export function versionLine(part: string, version: string, revision: string): CheckLine {
  const shown = revision === '' ? version : `${version} (${revision.slice(0, 12)})`;
  if (version === VERSION) return ok(part, 'version', shown);
  const advice = `use the bds of the same release; this is ${VERSION}. During an upgrade this passes`;
  return { state: 'warning', part, check: 'version', found: shown, advice };
}

/** Returns the clocks of the services compared with this machine's, and with one another. */
export function clockLines(clocks: readonly ServiceClock[]): CheckLine[] {
  const own = clocks.map(({ part, aheadMs, uncertainMs }) =>
    clockLine(part, 'clock', Math.max(0, Math.abs(aheadMs) - uncertainMs), 'from this machine'),
  );
  if (clocks.length < 2) return own;
  const earliest = Math.min(...clocks.map(({ aheadMs, uncertainMs }) => aheadMs + uncertainMs));
  const latest = Math.max(...clocks.map(({ aheadMs, uncertainMs }) => aheadMs - uncertainMs));
  return [...own, clockLine('services', 'clocks', Math.max(0, latest - earliest), 'from one another')];
}

function clockLine(part: string, check: string, apartMs: number, from: string): CheckLine {
  const found = `at least ${(apartMs / 1_000).toFixed(1)} s ${from}`;
  const advice = 'synchronize the clocks of the machines by NTP';
  if (apartMs >= SKEW.wrongMs) return wrong(part, check, found, advice);
  if (apartMs >= SKEW.warningMs) return { state: 'warning', part, check, found, advice };
  return ok(part, check, `less than a second ${from}`);
}
