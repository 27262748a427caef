import { setTimeout as delay } from 'node:timers/promises';
import { Route } from '@brand-data/contracts';
import { createRandom, type Random } from '@brand-data/testing/random';
import { nameOf } from './api-call.ts';
import type { Stand } from './engine.ts';
import { add } from './ledger.ts';

const CHANGE_EVERY_MS = 400;
const SUBJECTS = 12;
const AS_IT_SHOULD_BE_WITHIN_MS = 60_000;
const PLANS = ['admin-a', 'admin-b'] as const;
const KNOWN = 'ZPHX';

/** A value that operators change. After a change without an answer it may be either of two. */
interface Changeable<T> {
  may: readonly T[];
}

/** Something that operators change. If a change of it gets no answer, they leave it as it is. */
interface Subject {
  id: string;
  /** How many changes by each method were answered. */
  answered: Map<string, number>;
  isLeftAlone: boolean;
}

interface Account extends Subject {
  name: Changeable<string>;
  plan: Changeable<string>;
  isClosed: Changeable<boolean>;
  keys: { keyId: string; token: string; isRevoked: Changeable<boolean> }[];
}

interface SetRecord extends Subject {
  ceo: Changeable<string | undefined>;
}

/**
 * Makes changes of accounts, keys and records one after another, as operators do with `bds`. The services may answer a change, or
 * fail. An answered change must be there at the end, and one that failed must be there as a whole or not at all.
 */
export class AdminChanges {
  readonly #stand: Stand;
  readonly #random: Random;
  readonly #accounts: Account[] = [];
  readonly #records: SetRecord[];
  #answered = 0;
  #failed = 0;
  #isGoing = true;
  #number = 0;
  #running = Promise.resolve();

  private constructor(stand: Stand, seed: number, recordIds: readonly string[]) {
    this.#stand = stand;
    this.#random = createRandom(seed);
    this.#records = recordIds.map((id) => ({ ...newSubject(id), ceo: { may: [undefined] } }));
  }

  /** @param recordIds of records whose chief executive no source states */
  static async start(stand: Stand, seed: number, recordIds: readonly string[]): Promise<AdminChanges> {
    const routes = [Route.BRANDS, Route.LOGOS];
    for (const plan of PLANS)
      await stand.operator.setPlan(plan, [{ name: 'calls', allowance: 1_000_000, routes }]);
    const changes = new AdminChanges(stand, seed, recordIds);
    changes.#running = changes.#changeAll();
    return changes;
  }

  /** Resolves when the change under way has ended. */
  async stop(): Promise<void> {
    this.#isGoing = false;
    await this.#running;
  }

  /** Compares what the services have with what they have confirmed. Returns the differences that stay. */
  async differences(): Promise<string[]> {
    const all = [
      ...this.#accounts.map((account) => () => this.#differencesOfAccount(account)),
      ...this.#records.map((record) => () => this.#differencesOfRecord(record)),
    ];
    const lasting: string[] = [];
    for (const differences of all) {
      // What the last fault delayed may take a moment.
      const beganMs = performance.now();
      let found = await differences();
      while (found.length > 0 && performance.now() - beganMs < AS_IT_SHOULD_BE_WITHIN_MS) {
        await delay(1_000);
        found = await differences();
      }
      lasting.push(...found);
    }
    return lasting;
  }

  /** Tells in a line what was done. */
  summary(): string {
    const keys = this.#accounts.reduce((sum, account) => sum + account.keys.length, 0);
    return `${this.#answered} answered, ${this.#failed} failed, of ${this.#accounts.length} accounts with ${keys} keys and ${this.#records.length} records`;
  }

  async #changeAll(): Promise<void> {
    while (this.#isGoing) {
      const open = this.#accounts.filter(({ isLeftAlone }) => !isLeftAlone);
      const account = this.#oneOf(open);
      const record = this.#oneOf(this.#records.filter(({ isLeftAlone }) => !isLeftAlone));
      if (record && this.#random.chance(0.2)) await this.#setField(record);
      else if (account && (open.length >= SUBJECTS || this.#random.chance(0.8)))
        await this.#changeAccount(account);
      else await this.#createAccount();
      await delay(CHANGE_EVERY_MS);
    }
  }

  #oneOf<T>(all: readonly T[]): T | undefined {
    return all[this.#random.whole(0, all.length - 1)];
  }

  /** Makes a change. Resolves to undefined if it was not answered. */
  async #attempt<T>(make: () => Promise<T>): Promise<{ answer: T } | undefined> {
    try {
      const answer = await make();
      this.#answered += 1;
      return { answer };
    } catch {
      this.#failed += 1;
      return undefined;
    }
  }

  /** Changes one thing of a subject. */
  async #change<T>(
    subject: Subject,
    method: string,
    thing: Changeable<T>,
    to: T,
    make: () => Promise<unknown>,
  ): Promise<void> {
    thing.may = [...thing.may, to];
    if ((await this.#attempt(make)) === undefined) subject.isLeftAlone = true;
    else {
      thing.may = [to];
      add(subject.answered, method);
    }
  }

  async #createAccount(): Promise<void> {
    const plan = this.#random.pick(PLANS);
    const created = await this.#attempt(() => this.#stand.operator.createAccount(plan));
    if (created === undefined) return;
    this.#accounts.push({
      ...newSubject(created.answer),
      answered: new Map([['CreateAccount', 1]]),
      name: { may: ['Test'] },
      plan: { may: [plan] },
      isClosed: { may: [false] },
      keys: [],
    });
  }

  async #changeAccount(account: Account): Promise<void> {
    const { operator } = this.#stand;
    const { id, name, plan, isClosed, keys } = account;
    const [closed] = isClosed.may;
    const valid = keys.find(({ isRevoked }) => isRevoked.may[0] === false);
    const kind = this.#random.whole(0, 4);
    this.#number += 1;
    if (closed)
      return this.#change(account, 'ReopenAccount', isClosed, false, () => operator.reopenAccount(id));
    if (kind === 0) {
      const text = `Name ${this.#number}`;
      return this.#change(account, 'RenameAccount', name, text, () => operator.renameAccount(id, text));
    }
    if (kind === 1) {
      const other = plan.may[0] === PLANS[0] ? PLANS[1] : PLANS[0];
      return this.#change(account, 'SetAccountPlan', plan, other, () => operator.setAccountPlan(id, other));
    }
    if (kind === 2)
      return this.#change(account, 'CloseAccount', isClosed, true, () => operator.closeAccount(id));
    if (kind === 3 && valid)
      return this.#change(account, 'RevokeKey', valid.isRevoked, true, () => operator.revokeKey(valid.keyId));
    // Without an answer, a key may exist whose token no caller knows.
    const created = await this.#attempt(() => operator.createKey(id));
    if (created === undefined) account.isLeftAlone = true;
    else {
      keys.push({ ...created.answer, isRevoked: { may: [false] } });
      add(account.answered, 'CreateKey');
    }
  }

  #setField(record: SetRecord): Promise<void> {
    this.#number += 1;
    const to = `Chief ${this.#number}`;
    return this.#change(record, 'SetFields', record.ceo, to, () =>
      this.#stand.operator.setCeo(record.id, to),
    );
  }

  async #differencesOfAccount(account: Account): Promise<string[]> {
    const { stack, operator, client } = this.#stand;
    const { id, name, plan, isClosed, keys } = account;
    const found = await operator.account(id);
    const wrong = [
      ...differenceOf(`the name of ${id}`, name, found.name),
      ...differenceOf(`the plan of ${id}`, plan, found.plan),
      ...differenceOf(`whether ${id} is closed`, isClosed, found.isClosed),
    ];
    for (const { keyId, token, isRevoked } of keys) {
      const stored = found.keys.get(keyId);
      if (!stored) {
        wrong.push(`key ${keyId} of ${id} is missing`);
        continue;
      }
      wrong.push(...differenceOf(`whether key ${keyId} of ${id} is revoked`, isRevoked, stored.isRevoked));
      const wanted = stored.isRevoked || found.isClosed ? '401' : '200';
      for (const gateway of stack.gateways) {
        const told = nameOf(await client.get(`${gateway.url}/v1/brands/${KNOWN}?token=${token}`));
        if (told !== wanted) wrong.push(`${gateway.name} answers ${told} for key ${keyId}, not ${wanted}`);
      }
    }
    return [...wrong, ...(await this.#missingInTrail(account, [id, ...keys.map(({ keyId }) => keyId)]))];
  }

  async #differencesOfRecord(record: SetRecord): Promise<string[]> {
    const is = await this.#stand.operator.ceoOf(record.id);
    return [...differenceOf(record.id, record.ceo, is), ...(await this.#missingInTrail(record, [record.id]))];
  }

  async #missingInTrail({ id, answered }: Subject, about: readonly string[]): Promise<string[]> {
    const entries = await this.#stand.operator.changesAbout(about);
    return [...answered]
      .filter(([method, times]) => (entries.get(method) ?? 0) < times)
      .map(
        ([method, times]) =>
          `the trail has ${entries.get(method) ?? 0} of ${times} changes ${method} of ${id}`,
      );
  }
}

function newSubject(id: string): Subject {
  return { id, answered: new Map(), isLeftAlone: false };
}

function differenceOf<T>(what: string, { may }: Changeable<T>, is: T): string[] {
  return may.includes(is) ? [] : [`${what} is ${is} instead of ${may.join(' or ')}`];
}
