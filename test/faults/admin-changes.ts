import { setTimeout as delay } from 'node:timers/promises';
import { Route } from '@brand-data/contracts';
import { createRandom, type Random } from '@brand-data/testing/random';
import { nameOf } from './api-call.ts';
import type { Parts } from './engine.ts';
import { add, sumOf } from './ledger.ts';

const CHANGE_EVERY_MS = 400;
const SUBJECTS = 12;
const AS_IT_SHOULD_BE_WITHIN_MS = 60_000;
const PLANS = ['admin-a', 'admin-b'] as const;

/** An account or a record that operators change. */
type Subject = ReturnType<typeof newSubject>;

function newSubject(id: string, isRecord: boolean, properties: Record<string, unknown>) {
  return {
    id,
    isRecord,
    /** What each property may be. After a change without an answer it may be either of two values. */
    may: new Map<string, readonly unknown[]>(Object.entries(properties).map(([name, is]) => [name, [is]])),
    /** How many changes by each method were answered. */
    answered: new Map<string, number>(),
    /** Whether a change got no answer. Operators then leave the subject as it is. */
    isLeftAlone: false,
    /** The tokens of the account's keys by their ids. Whether a key is revoked is a property with the key's id as its name. */
    tokens: new Map<string, string>(),
  };
}

/**
 * Makes changes of accounts, keys and records one after another, as operators do with `bds`. The services may answer a change, or
 * fail. An answered change must be there at the end, and one that failed must be there as a whole or not at all.
 */
export class AdminChanges {
  readonly #parts: Parts;
  readonly #random: Random;
  readonly #subjects: Subject[];
  #answered = 0;
  #failed = 0;
  #isGoing = true;
  #number = 0;
  #running = Promise.resolve();

  private constructor(parts: Parts, seed: number, recordIds: readonly string[]) {
    this.#parts = parts;
    this.#random = createRandom(seed);
    this.#subjects = recordIds.map((id) => newSubject(id, true, { ceo: undefined }));
  }

  /** @param recordIds of records whose chief executive no source states */
  static async start(parts: Parts, seed: number, recordIds: readonly string[]): Promise<AdminChanges> {
    const routes = [Route.BRANDS, Route.LOGOS];
    for (const plan of PLANS)
      await parts.operator.setPlan(plan, [{ name: 'calls', allowance: 1_000_000, routes }]);
    const changes = new AdminChanges(parts, seed, recordIds);
    changes.#running = changes.#changeAll();
    return changes;
  }

  /** Resolves when the change under way has ended, and says what was done. */
  async stop(): Promise<void> {
    this.#isGoing = false;
    await this.#running;
    const accounts = this.#subjects.filter(({ isRecord }) => !isRecord);
    const keys = sumOf(accounts.map(({ tokens }) => tokens.size));
    this.#parts.say(
      `admin changes: ${this.#answered} answered, ${this.#failed} failed; ${accounts.length} accounts with ${keys} keys`,
    );
  }

  /** Compares what the services have with what they have confirmed. Returns the differences that stay. */
  async check(): Promise<string[]> {
    const lasting: string[] = [];
    for (const subject of this.#subjects) {
      // What the last fault delayed may take a moment.
      const beganMs = performance.now();
      let found = await this.#differencesOf(subject);
      while (found.length > 0 && performance.now() - beganMs < AS_IT_SHOULD_BE_WITHIN_MS) {
        await delay(1_000);
        found = await this.#differencesOf(subject);
      }
      lasting.push(...found);
    }
    return lasting;
  }

  async #changeAll(): Promise<void> {
    for (; this.#isGoing; await delay(CHANGE_EVERY_MS)) {
      const open = this.#subjects.filter(({ isLeftAlone }) => !isLeftAlone);
      const accounts = open.filter(({ isRecord }) => !isRecord);
      const record = this.#oneOf(open.filter(({ isRecord }) => isRecord));
      const account = this.#oneOf(accounts);
      this.#number += 1;
      if (record && this.#random.chance(0.2)) {
        const ceo = `Chief ${this.#number}`;
        await this.#change(record, 'SetFields', 'ceo', ceo, () =>
          this.#parts.operator.setCeo(record.id, ceo),
        );
      } else if (account && (accounts.length >= SUBJECTS || this.#random.chance(0.8)))
        await this.#changeAccount(account);
      else await this.#createAccount();
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

  /** Changes one property of a subject. */
  async #change(
    subject: Subject,
    method: string,
    property: string,
    to: unknown,
    make: () => Promise<unknown>,
  ): Promise<void> {
    const { may, answered } = subject;
    may.set(property, [...(may.get(property) ?? []), to]);
    if ((await this.#attempt(make)) === undefined) subject.isLeftAlone = true;
    else {
      may.set(property, [to]);
      add(answered, method);
    }
  }

  async #createAccount(): Promise<void> {
    const plan = this.#random.pick(PLANS);
    const created = await this.#attempt(() => this.#parts.operator.createAccount(plan));
    if (created === undefined) return;
    const account = newSubject(created.answer, false, { name: 'Test', plan, isClosed: false });
    add(account.answered, 'CreateAccount');
    this.#subjects.push(account);
  }

  async #changeAccount(account: Subject): Promise<void> {
    const { operator } = this.#parts;
    const { id, may, tokens } = account;
    const is = (property: string) => may.get(property)?.[0];
    const valid = [...tokens.keys()].find((keyId) => is(keyId) === false);
    const change = (method: string, property: string, to: unknown, make: () => Promise<unknown>) =>
      this.#change(account, method, property, to, make);
    const kind = this.#random.whole(0, 4);
    if (is('isClosed')) return change('ReopenAccount', 'isClosed', false, () => operator.reopenAccount(id));
    if (kind === 0) {
      const name = `Name ${this.#number}`;
      return change('RenameAccount', 'name', name, () => operator.renameAccount(id, name));
    }
    if (kind === 1) {
      const plan = is('plan') === PLANS[0] ? PLANS[1] : PLANS[0];
      return change('SetAccountPlan', 'plan', plan, () => operator.setAccountPlan(id, plan));
    }
    if (kind === 2) return change('CloseAccount', 'isClosed', true, () => operator.closeAccount(id));
    if (kind === 3 && valid !== undefined)
      return change('RevokeKey', valid, true, () => operator.revokeKey(valid));
    // Without an answer, a key may exist whose token no caller knows.
    const created = await this.#attempt(() => operator.createKey(id));
    if (created === undefined) {
      account.isLeftAlone = true;
      return;
    }
    tokens.set(created.answer.keyId, created.answer.token);
    may.set(created.answer.keyId, [false]);
    add(account.answered, 'CreateKey');
  }

  async #differencesOf(subject: Subject): Promise<string[]> {
    const { stack, operator, client } = this.#parts;
    const { id, isRecord, may, tokens, answered } = subject;
    const found = isRecord ? { ceo: await operator.ceoOf(id) } : await operator.account(id);
    const is = new Map(Object.entries(found));
    const wrong = [...may]
      .filter(([property, values]) => !values.includes(is.get(property)))
      .map(
        ([property, values]) =>
          `${property} of ${id} is ${is.get(property)} instead of ${values.join(' or ')}`,
      );
    for (const [keyId, token] of tokens) {
      const wanted = is.get(keyId) || is.get('isClosed') ? '401' : '200';
      for (const gateway of stack.gateways) {
        const told = nameOf(await client.get(`${gateway.url}/v1/brands/ZPHX?token=${token}`));
        if (told !== wanted) wrong.push(`${gateway.name} answers ${told} for key ${keyId}, not ${wanted}`);
      }
    }
    const entries = await operator.changesAbout([id, ...tokens.keys()]);
    for (const [method, times] of answered) {
      const stored = entries.get(method) ?? 0;
      if (stored < times) wrong.push(`the trail has ${stored} of ${times} changes ${method} of ${id}`);
    }
    return wrong;
  }
}
