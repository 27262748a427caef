import { randomBytes } from 'node:crypto';
import {
  AccountsAdminServiceClient,
  type AuditEntry,
  Brand,
  type CallLimits,
  CatalogAdminServiceClient,
  FieldOutcome,
  ImageKind,
  ImagesAdminServiceClient,
  MeteringAdminServiceClient,
  type Pool,
  type PoolUsage,
  Route,
  SetFieldsRequest,
} from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelFrom } from '@brand-data/runtime/test/channel-as.ts';
import type { TestStack } from '../stack/index.ts';

const BOTH_ROUTES = [Route.BRANDS, Route.LOGOS];

/** An operator's actions, through the admin ports. */
export interface Operator {
  /** Creates an account with its own plan, which has one pool for both routes. */
  newAccount(
    allowance: number,
    limits?: CallLimits,
  ): Promise<{ accountId: string; plan: string; token: string; keyId: string }>;
  setPlan(name: string, pools: Pool[], limits?: CallLimits): Promise<void>;
  createAccount(plan: string): Promise<string>;
  setAccountPlan(accountId: string, plan: string): Promise<void>;
  closeAccount(accountId: string): Promise<void>;
  reopenAccount(accountId: string): Promise<void>;
  renameAccount(accountId: string, name: string): Promise<void>;
  account(accountId: string): Promise<AccountState>;
  createKey(
    accountId: string,
    more?: { allowedOrigins?: string[]; expiresAtMs?: number; limits?: CallLimits },
  ): Promise<{ token: string; keyId: string }>;
  revokeKey(keyId: string): Promise<void>;
  usage(accountId: string): Promise<PoolUsage[]>;
  /** How many changes the trail has about any of these ids, by method. */
  changesAbout(ids: readonly string[]): Promise<Map<string, number>>;
  /** Sets the chief executive of a record. */
  setCeo(id: string, ceo: string): Promise<void>;
  ceoOf(id: string): Promise<string | undefined>;
  putBrands(brands: Parameters<typeof Brand.fromPartial>[0][]): Promise<void>;
  /** Stores a logo in images, and returns its path. */
  putLogo(file: Buffer): Promise<string>;
  close(): void;
}

interface AccountState {
  name: string;
  plan: string;
  isClosed: boolean;
  keys: ReadonlyMap<string, { isRevoked: boolean }>;
}

/** How often a busy metering is asked for an account's usage. Each time it waits for what it has not applied yet. */
const MOST_ASKED = 10;

export function operatorOf(stack: TestStack): Operator {
  const { operatorToken } = stack.operator;
  const options = { deadlineMs: 10_000, operatorToken, waitForReady: true };
  const channel = (peer: string) => channelFrom(stack.certificates, 'bds', peer);
  const accounts = connectChannel(AccountsAdminServiceClient, stack.operator.accounts, channel('accounts'));
  const catalog = connectChannel(CatalogAdminServiceClient, stack.operator.catalog, channel('catalog'));
  const metering = connectChannel(MeteringAdminServiceClient, stack.operator.metering, channel('metering'));
  const images = connectChannel(ImagesAdminServiceClient, stack.operator.images, channel('images'));

  const operator: Operator = {
    async newAccount(allowance, limits) {
      const plan = `plan-${randomBytes(4).toString('hex')}`;
      await operator.setPlan(plan, [{ name: 'calls', allowance, routes: BOTH_ROUTES }], limits);
      const accountId = await operator.createAccount(plan);
      return { accountId, plan, ...(await operator.createKey(accountId)) };
    },
    async setPlan(name, pools, limits) {
      await callUnary(accounts, accounts.setPlan, { name, pools, limits }, options);
    },
    async createAccount(plan) {
      const { account } = await callUnary(
        accounts,
        accounts.createAccount,
        { id: '', name: 'Test', plan },
        options,
      );
      return account?.id ?? '';
    },
    async setAccountPlan(id, plan) {
      await callUnary(accounts, accounts.setAccountPlan, { id, plan }, options);
    },
    async closeAccount(id) {
      await callUnary(accounts, accounts.closeAccount, { id }, options);
    },
    async reopenAccount(id) {
      await callUnary(accounts, accounts.reopenAccount, { id }, options);
    },
    async renameAccount(id, name) {
      await callUnary(accounts, accounts.renameAccount, { id, name }, options);
    },
    async account(id) {
      const { account, keys } = await callUnary(accounts, accounts.getAccount, { id }, options);
      if (!account) throw new Error(`there is no account ${id}`);
      return {
        name: account.name,
        plan: account.plan,
        isClosed: account.closedAtMs !== undefined,
        keys: new Map(keys.map((key) => [key.id, { isRevoked: key.revokedAtMs !== undefined }])),
      };
    },
    async changesAbout(ids) {
      const found = new Map<string, AuditEntry>();
      for (const about of ids) {
        let after = '';
        do {
          const page = { operator: '', service: '', method: '', about, limit: 1_000, after };
          const request = { ...page, sinceMs: undefined, untilMs: undefined };
          const answer = await callUnary(accounts, accounts.listAudit, request, options);
          for (const entry of answer.entries) found.set(entry.id, entry);
          after = answer.next;
        } while (after !== '');
      }
      const changes = new Map<string, number>();
      for (const { method, counts } of found.values())
        changes.set(method, (changes.get(method) ?? 0) + (counts.calls ?? 1));
      return changes;
    },
    async setCeo(id, ceo) {
      const override = { field: 'company.ceo', value: { company: { ceo } }, by: 'test', reason: 'a test' };
      const request = SetFieldsRequest.fromPartial({ settings: [{ id, override }], dryRun: false });
      const { results } = await callUnary(catalog, catalog.setFields, request, options);
      const outcome = results[0]?.outcome;
      if (outcome !== FieldOutcome.CHANGED) throw new Error(`the field was not set: ${outcome}`);
    },
    async ceoOf(id) {
      const { brand } = await callUnary(catalog, catalog.getBrand, { id, refusedLinks: false }, options);
      return brand?.company?.ceo || undefined;
    },
    async createKey(accountId, { allowedOrigins = [], expiresAtMs, limits } = {}) {
      const request = { accountId, label: 'test', allowedOrigins, expiresAtMs, limits };
      const { key, token } = await callUnary(accounts, accounts.createKey, request, options);
      return { token, keyId: key?.id ?? '' };
    },
    async revokeKey(keyId) {
      await callUnary(accounts, accounts.revokeKey, { keyId }, options);
    },
    async usage(accountId) {
      // Until metering has applied all usage, the figures may be too small.
      for (let asked = 1; ; asked++) {
        const { usage } = await callUnary(metering, metering.getUsage, { accountId, month: '' }, options);
        if (usage?.complete || asked === MOST_ASKED) return usage?.pools ?? [];
      }
    },
    async putBrands(brands) {
      const importId = randomBytes(4).toString('hex');
      const put = {
        source: 'test',
        importId,
        dryRun: false,
        brands: brands.map((brand) => Brand.fromPartial(brand)),
      };
      const { refused } = await callUnary(catalog, catalog.putBrands, put, options);
      if (refused.length > 0) throw new Error(`refused: ${JSON.stringify(refused)}`);
      await callUnary(catalog, catalog.finishImport, { source: 'test', importId, prune: false }, options);
    },
    async putLogo(file) {
      const light = { $case: 'file', value: file } as const;
      const request = { kind: ImageKind.LOGO, light, darkFile: undefined, dryRun: false };
      const { big } = await callUnary(images, images.putImage, request, options);
      return big?.path ?? '';
    },
    close() {
      for (const client of [accounts, catalog, metering, images]) client.close();
    },
  };
  return operator;
}
