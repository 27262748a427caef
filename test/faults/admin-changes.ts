import { setTimeout as delay } from 'node:timers/promises';
import { Route } from '@brand-data/contracts';
import type { Operator } from '../e2e/operator.ts';
import { type ApiClient, nameOf } from './api-call.ts';
import { randomFrom } from './random.ts';
import type { FaultStack } from './stack.ts';

const CHANGE_EVERY_MS = 400;
const SUBJECTS = 12;
const AS_IT_SHOULD_BE_WITHIN_MS = 60_000;
const PLANS = ['admin-a', 'admin-b'] as const;
const KNOWN = 'ZPHX';

/** A value that operators change. After a change without an answer it may be either of two. */
interface Changeable<T> {
  may: readonly T[];
}

/** An account that operators change. If a change of it gets no answer, they leave it as it is. */
interface Subject {
  accountId: string;
  name: Changeable<string>;
  plan: Changeable<string>;
  isClosed: Changeable<boolean>;
  keys: { keyId: string; token: string; isRevoked: Changeable<boolean> }[];
  /** How many changes by each method were answered. */
  answered: Map<string, number>;
  isLeftAlone: boolean;
}

/** A record with a field that operators set. */
interface SetRecord {
  id: string;
  ceo: Changeable<string | undefined>;
  answered: number;
  isLeftAlone: boolean;
}

export interface AdminChanges {
  /** Resolves when the change under way has ended. */
  stop(): Promise<void>;
  /** Compares what the services have with what they have confirmed. Returns the differences that stay. */
  differences(): Promise<string[]>;
  /** What was done, in a line. */
  summary(): string;
}

/**
 * Makes changes of accounts, keys and records one after another, as operators do with `bds`. The services may answer a change, or
 * fail. An answered change must be there at the end, and one that failed must be there as a whole or not at all.
 *
 * @param records ids of records whose chief executive no source states
 */
export async function startAdminChanges({
  stack,
  operator,
  client,
  seed,
  records: recordIds,
}: {
  stack: FaultStack;
  operator: Operator;
  client: ApiClient;
  seed: number;
  records: readonly string[];
}): Promise<AdminChanges> {
  const random = randomFrom(seed);
  const oneOf = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  for (const plan of PLANS)
    await operator.setPlan(plan, [
      { name: 'calls', allowance: 1_000_000, routes: [Route.BRANDS, Route.LOGOS] },
    ]);
  const subjects: Subject[] = [];
  const records = recordIds.map(
    (id): SetRecord => ({ id, ceo: { may: [undefined] }, answered: 0, isLeftAlone: false }),
  );
  const counts = { answered: 0, failed: 0 };
  let isGoing = true;
  let number = 0;

  /** Makes a change. Resolves to false if it was not answered. */
  const attempt = async (make: () => Promise<void>): Promise<boolean> => {
    try {
      await make();
      counts.answered += 1;
      return true;
    } catch {
      counts.failed += 1;
      return false;
    }
  };

  /** Changes one thing of an account. */
  const change = async <T>(
    subject: Subject,
    method: string,
    thing: Changeable<T>,
    to: T,
    make: () => Promise<unknown>,
  ): Promise<void> => {
    const before = thing.may;
    thing.may = [...before, to];
    const isAnswered = await attempt(async () => void (await make()));
    if (isAnswered) {
      thing.may = [to];
      subject.answered.set(method, (subject.answered.get(method) ?? 0) + 1);
    } else subject.isLeftAlone = true;
  };

  const create = () =>
    attempt(async () => {
      const plan = oneOf(PLANS) ?? PLANS[0];
      const accountId = await operator.createAccount(plan);
      subjects.push({
        accountId,
        name: { may: ['Test'] },
        plan: { may: [plan] },
        isClosed: { may: [false] },
        keys: [],
        answered: new Map([['CreateAccount', 1]]),
        isLeftAlone: false,
      });
    });

  const changeOneOf = async (subject: Subject): Promise<void> => {
    const { accountId, name, plan, isClosed, keys } = subject;
    const [closed] = isClosed.may;
    const valid = keys.find(({ isRevoked }) => isRevoked.may[0] === false);
    const kind = Math.floor(random() * 5);
    number += 1;
    if (closed)
      return change(subject, 'ReopenAccount', isClosed, false, () => operator.reopenAccount(accountId));
    if (kind === 0) {
      const text = `Name ${number}`;
      return change(subject, 'RenameAccount', name, text, () => operator.renameAccount(accountId, text));
    }
    if (kind === 1) {
      const other = plan.may[0] === PLANS[0] ? PLANS[1] : PLANS[0];
      return change(subject, 'SetAccountPlan', plan, other, () => operator.setAccountPlan(accountId, other));
    }
    if (kind === 2)
      return change(subject, 'CloseAccount', isClosed, true, () => operator.closeAccount(accountId));
    if (kind === 3 && valid) {
      const { keyId, isRevoked } = valid;
      return change(subject, 'RevokeKey', isRevoked, true, () => operator.revokeKey(keyId));
    }
    // Without an answer, there may be a key whose token nobody has.
    const isAnswered = await attempt(async () => {
      keys.push({ ...(await operator.createKey(accountId)), isRevoked: { may: [false] } });
    });
    if (isAnswered) subject.answered.set('CreateKey', (subject.answered.get('CreateKey') ?? 0) + 1);
    else subject.isLeftAlone = true;
  };

  const setField = async (record: SetRecord): Promise<void> => {
    number += 1;
    const to = `Chief ${number}`;
    record.ceo.may = [...record.ceo.may, to];
    if (await attempt(() => operator.setCeo(record.id, to))) {
      record.ceo.may = [to];
      record.answered += 1;
    } else record.isLeftAlone = true;
  };

  const changeAll = async (): Promise<void> => {
    while (isGoing) {
      const open = subjects.filter(({ isLeftAlone }) => !isLeftAlone);
      const free = records.filter(({ isLeftAlone }) => !isLeftAlone);
      const subject = oneOf(open);
      const record = oneOf(free);
      if (record && random() < 0.2) await setField(record);
      else if (subject && (open.length >= SUBJECTS || random() < 0.8)) await changeOneOf(subject);
      else await create();
      await delay(CHANGE_EVERY_MS);
    }
  };
  const running = changeAll();

  const differencesOfAccount = async (subject: Subject): Promise<string[]> => {
    const { accountId, name, plan, isClosed, keys, answered } = subject;
    const found = await operator.account(accountId);
    const wrong: string[] = [];
    const check = <T>(what: string, { may }: Changeable<T>, is: T) => {
      if (!may.includes(is)) wrong.push(`${what} of ${accountId} is ${is} instead of ${may.join(' or ')}`);
    };
    check('the name', name, found.name);
    check('the plan', plan, found.plan);
    check('whether it is closed', isClosed, found.isClosed);
    for (const { keyId, token, isRevoked } of keys) {
      const stored = found.keys.get(keyId);
      if (!stored) {
        wrong.push(`key ${keyId} of ${accountId} is missing`);
        continue;
      }
      check(`whether key ${keyId} is revoked`, isRevoked, stored.isRevoked);
      const wanted = stored.isRevoked || found.isClosed ? '401' : '200';
      for (const gateway of stack.gateways) {
        const told = nameOf(await client.get(`${gateway.url}/v1/brands/${KNOWN}?token=${token}`));
        if (told !== wanted) wrong.push(`${gateway.name} answers ${told} for key ${keyId}, not ${wanted}`);
      }
    }
    const entries = await operator.changesAbout([accountId, ...keys.map(({ keyId }) => keyId)]);
    for (const [method, times] of answered)
      if ((entries.get(method) ?? 0) < times)
        wrong.push(`the trail has ${entries.get(method) ?? 0} of ${times} changes ${method} of ${accountId}`);
    return wrong;
  };

  const differencesOfRecord = async ({ id, ceo, answered }: SetRecord): Promise<string[]> => {
    const is = await operator.ceoOf(id);
    const entries = (await operator.changesAbout([id])).get('SetFields') ?? 0;
    return [
      ...(ceo.may.includes(is) ? [] : [`${id} has ${is} instead of ${ceo.may.join(' or ')}`]),
      ...(entries < answered ? [`the trail has ${entries} of ${answered} changes of ${id}`] : []),
    ];
  };

  return {
    stop: async () => {
      isGoing = false;
      await running;
    },
    differences: async () => {
      const all = [
        ...subjects.map((subject) => () => differencesOfAccount(subject)),
        ...records.map((record) => () => differencesOfRecord(record)),
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
    },
    summary: () =>
      `${counts.answered} answered, ${counts.failed} failed, of ${subjects.length} accounts with ${subjects.reduce((sum, { keys }) => sum + keys.length, 0)} keys and ${records.length} records`,
  };
}
