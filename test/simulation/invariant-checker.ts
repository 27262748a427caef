import {
  type AcquireRequest,
  type AcquireResponse,
  GRANTS_PER_HOLDER,
  monthOf,
  type UsageEvent,
} from '@brand-data/contracts';
import { grantIdOf, type Ledger } from '@brand-data/metering/src/ledger/ledger.ts';
import { breakdownOfMonth } from '@brand-data/metering/src/ledger/ledger-database.ts';
import { LedgerStore } from '@brand-data/metering/src/ledger/ledger-store.ts';
import { countOf } from '@brand-data/metering/src/ledger/usage-merge.ts';
import {
  type Account,
  billOf,
  brokenByBill,
  freeOf,
  type Invariant,
  newAccount,
  type SeenOutcome,
  unheldOf,
  type Violation,
} from './invariants.ts';
import { createMemoryDatabase, type Documents, monthOfAccount } from './ledger-documents.ts';
import type { ChangedLedger } from './mongo.ts';
import type { Plan } from './plan.ts';
import type { Rules } from './rules.ts';
import type { World } from './world.ts';

/**
 * `good`: there was no fault yet, so no call may fail while some permit is neither used nor reserved. `recovered`: faults have
 * been over for a while, so no call may fail while some permit is neither used nor held by a gateway. `bad`: any call may fail.
 */
type Health = 'good' | 'recovered' | 'bad';

/** One call as its caller knows it. */
interface SeenCall {
  accountId: string;
  /** The allowance that the gateway used. */
  limit: number;
  /** "key/route/status", under which the call is billed. */
  kind: string;
  beganIn: Health;
  /** Whether the call must succeed although there are faults. */
  mustBeServed: boolean;
  /** When it got a permit, by the gateway's wall clock. */
  admitted?: { month: string; day: string };
}

const CLOCKS_APART_MS = 30_000;
const HANDED_OVER_WITHIN_MS = 500;
const LIMITS_REMEMBERED_MS = 60_000;
/**
 * The most grants that a gateway may keep for each account: those that are open at metering, and as many that metering has closed
 * while the gateway does not know it yet.
 */
const GRANTS_PER_HOLDING = 2 * GRANTS_PER_HOLDER;

/** Compares what callers saw with the bill, whenever either changes. */
export class InvariantChecker {
  readonly violations: Violation[] = [];
  health: Health = 'good';
  readonly #world: World;
  readonly #durable: () => Documents;
  readonly #plan: Plan;
  readonly #rules: Rules;
  /** Every month that a clock of the world may reach. */
  readonly #months: readonly string[];
  readonly #accounts = new Map<string, Account>();
  readonly #grantOfRequest = new Map<string, string>();

  constructor(world: World, durable: () => Documents, plan: Plan, rules: Rules) {
    this.#world = world;
    this.#durable = durable;
    this.#plan = plan;
    this.#rules = rules;
    const { startWallMs } = world;
    this.#months = [...new Set([monthOf(startWallMs), monthOf(startWallMs + 3_600_000)])];
  }

  callBegan(call: Pick<SeenCall, 'accountId' | 'limit' | 'kind'>): SeenCall {
    const { accountId, fromMs = 0, toMs = 0 } = this.#plan.mustServe ?? {};
    const nowMs = this.#world.now();
    const mustBeServed = call.accountId === accountId && nowMs >= fromMs && nowMs < toMs;
    return { ...call, beganIn: this.health, mustBeServed };
  }

  callAdmitted(call: SeenCall, wallMs: number): void {
    const day = new Date(wallMs).toISOString().slice(0, 10);
    call.admitted = { day, month: day.slice(0, 7) };
    this.#accountOf(call.accountId, call.admitted.month).underWay += 1;
  }

  callEnded(call: SeenCall, outcome: SeenOutcome): void {
    const { accountId, kind, admitted, beganIn } = call;
    if (admitted) {
      const account = this.#accountOf(accountId, admitted.month);
      if (freeOf(account, call.limit) <= 0) account.noneFreeAtMs = this.#world.now();
      account.underWay -= 1;
      const cell = `${kind}/${admitted.day}`;
      if (outcome === 'counted') {
        account.countedSum += 1;
        account.counted.set(cell, (account.counted.get(cell) ?? 0) + 1);
        const bound = account.known?.bound ?? call.limit;
        this.#require(
          account.countedSum <= bound,
          '3 counted answers stay within the allowance',
          `${accountId} in ${admitted.month}: ${account.countedSum} answered of ${bound}`,
        );
      } else if (outcome === 'unsure') {
        account.unsureSum += 1;
        account.unsure.set(cell, (account.unsure.get(cell) ?? 0) + 1);
      }
    }
    if (outcome === 'exhausted') this.#judgeExhausted(call);
    const isFailure = outcome === 'unsure' || outcome === 'refused';
    if (isFailure && beganIn !== 'bad' && beganIn === this.health) this.#judgeFailure(call, outcome);
    if (outcome !== 'refused' || !call.mustBeServed) return;
    this.#require(
      unheldOf(this.#accountOf(accountId, monthOf(this.#world.trueWallMs()))) <= 0,
      'a lost replica leaves no account without permits',
      `${accountId}: a call was refused`,
    );
  }

  /** Called when metering has answered a request for a grant. */
  decided({ holder, seq }: AcquireRequest, { outcome }: AcquireResponse): void {
    if (outcome?.$case !== 'grant') return;
    const { id } = outcome.value;
    const request = `${holder}/${seq}`;
    const before = this.#grantOfRequest.get(request) ?? id;
    this.#require(
      before === id,
      '7 a closed grant never opens again',
      `request ${seq} of ${holder} had ${before}, now ${id}`,
    );
    this.#grantOfRequest.set(request, id);
  }

  /** Called when the durable state of these ledgers has changed. */
  billChanged(ledgers: readonly ChangedLedger[]): void {
    for (const { accountId, month } of ledgers) this.#readBill(accountId, month);
  }

  /** Called when metering has said that these figures are final. */
  saidFinal(accountId: string, month: string, used: number): void {
    const account = this.#accountOf(accountId, month);
    account.final ??= account.bill ?? { used: 0, committed: 0, cells: new Map() };
    this.#requireFinal(account, `${accountId} in ${month}`, { used, committed: used });
  }

  #requireFinal({ final }: Account, name: string, now: { used: number; committed: number }): void {
    this.#require(
      !final || (now.used === final.used && now.committed === final.committed),
      '14 the figures of a month that is final never change',
      `${name}: ${JSON.stringify(final)} was final, now ${now.used} are used and ${now.committed} committed`,
    );
  }

  stopped(holder: string, grantsInBook: number): void {
    this.#require(
      grantsInBook === 0,
      '12 memory is bounded',
      `${holder} stopped with ${grantsInBook} grants in its book`,
    );
    for (const { accountId, grants } of this.#openLedgers()) {
      const left = grants.filter((grant) => grant.holder === holder);
      this.#require(
        left.length === 0,
        '11 a rolling restart fails no call and loses no permit',
        `${holder} stopped and left ${left.length} grants of ${accountId} open`,
      );
    }
  }

  /**
   * Called when calls and faults have been over for a while. A breakdown is stored before its ledger's `used` and hides it from
   * the bill of a settled grant, so this compares the two while the grants are open.
   *
   * @param holders the gateways that are running
   */
  atRest(holders: ReadonlySet<string>): void {
    const { breakdowns } = this.#durable();
    for (const ledger of this.#openLedgers())
      for (const grant of ledger.grants.filter(({ holder }) => holders.has(holder))) {
        const known = countOf(breakdowns.get(grantIdOf(ledger, grant))?.cells ?? []);
        this.#require(
          known === grant.used,
          '6 every acknowledged event is applied',
          `${grantIdOf(ledger, grant)}: ${grant.used} used, ${known} in its breakdown`,
        );
      }
  }

  memory(holder: string, { holdings, grants }: { holdings: number; grants: number }): void {
    this.#require(
      grants <= holdings * GRANTS_PER_HOLDING,
      '12 memory is bounded',
      `${holder} keeps ${grants} grants for ${holdings} accounts`,
    );
  }

  openGrants(): number {
    return this.#openLedgers().reduce((sum, { grants }) => sum + grants.length, 0);
  }

  /** Called when every gateway has answered callers that this month's allowance is used up. */
  drivenPast(accountId: string, month: string, limit: number): void {
    this.#world.note(() => `${accountId} is driven past its limit of ${limit}`);
    this.#readBill(accountId, month);
    const used = this.#accountOf(accountId, month).bill?.used ?? 0;
    // Other checks ensure that `used` is not larger than the limit.
    this.#require(
      used >= limit,
      '13 an account driven past its limit has billed exactly its allowance',
      `${accountId} in ${month}: billed ${used} of ${limit}`,
    );
  }

  /** Called when calls of this account have no answer although there are no faults. */
  unanswered(accountId: string): void {
    this.#violated(
      'healthy: no call fails while allowance remains',
      `${accountId} has calls without an answer`,
    );
  }

  /** Checks the end of a world, when there are no faults and all grants should be settled. */
  async atTheEnd({ log, applied }: { log: readonly UsageEvent[]; applied: number }): Promise<void> {
    this.#require(
      applied >= log.length,
      '6 every acknowledged event is applied',
      `${log.length - applied} of ${log.length} are not`,
    );
    const open = this.openGrants();
    this.#require(open === 0, 'settled: no grant stays open', `${open} grants are open`);
    for (const [accountId, month] of this.#pairs()) {
      this.#readBill(accountId, month);
      const broken = brokenByBill(this.#accountOf(accountId, month), `${accountId} in ${month}`);
      for (const { invariant, text } of broken) this.#violated(invariant, text);
    }
    const { random } = this.#world;
    const database = createMemoryDatabase(this.#durable());
    const clock = { now: () => ({ monotonicMs: 0, wallMs: 0 }), sleep: async () => {} };
    const store = this.#rules.store(new LedgerStore({ database, clock, random: random.unit }));
    const read = async () =>
      JSON.stringify(
        await Promise.all(this.#pairs().map(([accountId, month]) => store.readUsage(accountId, month))),
      );
    const before = await read();
    for (const event of random.shuffled([...log, ...log])) await store.applyUsage(event.usage);
    this.#require(
      (await read()) === before,
      '5 replaying changes nothing',
      'the bill is another after a replay',
    );
  }

  #require(holds: boolean, invariant: Invariant, text: string): void {
    if (!holds) this.#violated(invariant, text);
  }

  #violated(invariant: Invariant, text: string): void {
    this.violations.push({ invariant, atMs: this.#world.now(), text });
    this.#world.note(() => `*** ${invariant}: ${text}`);
  }

  #accountOf(accountId: string, month: string): Account {
    const key = `${accountId}/${month}`;
    const account = this.#accounts.get(key) ?? newAccount();
    this.#accounts.set(key, account);
    return account;
  }

  #readBill(accountId: string, month: string): void {
    const [pool] = monthOfAccount(this.#durable(), accountId, month);
    if (!pool) return;
    const { ledger } = pool;
    const cells = breakdownOfMonth(pool);
    const account = this.#accountOf(accountId, month);
    const name = `${accountId} in ${month}`;
    const before = account.bill;
    const bill = billOf(ledger, cells);
    if (before && unheldOf(account) <= 0) account.noneUnheldAtMs = this.#world.now();
    account.bill = bill;
    this.#requireFinal(account, name, bill);

    if (!account.known || ledger.limitRevision > account.known.revision) {
      account.known = {
        revision: ledger.limitRevision,
        limit: ledger.limit,
        // One write may contain both the lower limit and grants that were decided on under the old one.
        bound: Math.max(ledger.limit, before?.committed ?? 0, bill.committed),
      };
      account.limits.push({ fromMs: this.#world.now(), limit: ledger.limit });
    }
    const { bound } = account.known;
    const sum = cells.reduce((total, { count }) => total + count, 0);
    const explained = account.countedSum + account.unsureSum + account.underWay;
    const within = '1 committed permits stay within the allowance';
    this.#require(bill.committed <= bound, within, `${name}: ${bill.committed} of ${bound}`);
    const counted = '3 counted answers stay within the allowance';
    this.#require(bill.used <= bound, counted, `${name}: billed ${bill.used} of ${bound}`);
    this.#require(
      !before || bill.used >= before.used,
      '5 replaying changes nothing',
      `${name}: the bill sank from ${before?.used} to ${bill.used}`,
    );
    const seen = '4 a billed call was seen as counted or as failed';
    // The breakdown of an open grant may be incomplete for a moment, because a message may contain only the changed cells.
    const isComplete = sum <= bill.used && sum >= ledger.closedUsed;
    this.#require(isComplete, seen, `${name}: parts sum to ${sum}, billed ${bill.used}`);
    this.#require(bill.used <= explained, seen, `${name}: billed ${bill.used}, callers know of ${explained}`);
    const foreign = cells.find(({ day }) => !day.startsWith(month));
    const inMonth = '9 no permit is spent outside its month';
    this.#require(!foreign, inMonth, `${name}: a call of ${foreign?.day} is billed`);

    const open = new Set(ledger.grants.map(({ number }) => number));
    for (const number of account.openGrants) if (!open.has(number)) account.closedGrants.add(number);
    for (const number of open) {
      const isNew = !account.closedGrants.has(number);
      this.#require(isNew, '7 a closed grant never opens again', `${name}: grant ${number}`);
    }
    account.openGrants = open;
  }

  #judgeExhausted({ accountId, limit }: SeenCall): void {
    // The clocks of the gateway and metering may differ, so the answer may be about either month.
    const accounts = this.#months.map((month) => this.#accountOf(accountId, month));
    const sinceMs = this.#world.now() - LIMITS_REMEMBERED_MS;
    const isTrue = accounts.some(({ bill, limits }) => {
      const inForce = limits.filter(
        (_, index) => (limits[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY) > sinceMs,
      );
      return bill && bill.used >= Math.min(limit, ...inForce.map((known) => known.limit));
    });
    const used = accounts.map(({ bill }) => bill?.used ?? 0).join(' and ');
    this.#require(
      isTrue,
      '8 exhausted means that no permit is available or held',
      `${accountId}: a caller was refused when ${used} of ${limit} were used`,
    );
  }

  #judgeFailure({ accountId, limit, admitted }: SeenCall, outcome: SeenOutcome): void {
    const nowMs = this.#world.trueWallMs();
    // Near the end of the month, a gateway or metering may already be in the next month by its wall clock.
    if (monthOf(nowMs - CLOCKS_APART_MS) !== monthOf(nowMs + CLOCKS_APART_MS)) return;
    const account = this.#accountOf(accountId, admitted?.month ?? monthOf(nowMs));
    const isGood = this.health === 'good';
    const free = isGood ? freeOf(account, limit) : unheldOf(account);
    const noneAtMs = isGood ? account.noneFreeAtMs : account.noneUnheldAtMs;
    // A permit that was returned a moment ago may still be on its way to another gateway.
    const laysIdle = free > 0 && this.#world.now() - noneAtMs > HANDED_OVER_WITHIN_MS;
    this.#require(
      outcome !== 'unsure' && !laysIdle,
      'healthy: no call fails while allowance remains',
      `${accountId}: a call ended ${outcome} while ${free} permits were free`,
    );
  }

  #pairs(): [accountId: string, month: string][] {
    return [...this.#accounts.keys()].map((key) => {
      const [accountId = '', month = ''] = key.split('/');
      return [accountId, month];
    });
  }

  #openLedgers(): Ledger[] {
    return this.#pairs().flatMap(([accountId, month]) =>
      monthOfAccount(this.#durable(), accountId, month).map(({ ledger }) => ledger),
    );
  }
}
