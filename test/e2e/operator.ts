import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
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
import { callUnary, connectChannel, Fault } from '@brand-data/runtime';
import { channelFrom } from '@brand-data/runtime/test/channel-as.ts';
import type { TestStack } from '../stack/index.ts';

const BOTH_ROUTES = [Route.BRANDS, Route.LOGOS];

interface KeyOptions {
  allowedOrigins?: string[];
  expiresAtMs?: number;
  limits?: CallLimits;
}

/** How often a busy metering is asked for an account's usage. Each time it waits for what it has not applied yet. */
const MOST_ASKED = 10;
/** How long the creation of an account is tried again. */
const TRIED_FOR_MS = 30_000;

/** Acts as an operator, through the admin ports. */
export class TestOperator {
  readonly #options: { deadlineMs: number; operatorToken: string; waitForReady: true };
  readonly #accounts: AccountsAdminServiceClient;
  readonly #catalog: CatalogAdminServiceClient;
  readonly #metering: MeteringAdminServiceClient;
  readonly #images: ImagesAdminServiceClient;

  constructor({ operator, certificates }: Pick<TestStack, 'operator' | 'certificates'>) {
    const channel = (peer: string) => channelFrom(certificates, 'bds', peer);
    this.#options = { deadlineMs: 10_000, operatorToken: operator.operatorToken, waitForReady: true };
    this.#accounts = connectChannel(AccountsAdminServiceClient, operator.accounts, channel('accounts'));
    this.#catalog = connectChannel(CatalogAdminServiceClient, operator.catalog, channel('catalog'));
    this.#metering = connectChannel(MeteringAdminServiceClient, operator.metering, channel('metering'));
    this.#images = connectChannel(ImagesAdminServiceClient, operator.images, channel('images'));
  }

  /**
   * Creates an account with its own plan, which has one pool for both routes. Begins again while accounts says that it is unavailable,
   * as it does when the machine is so busy that its database does not confirm a write within a second.
   */
  async newAccount(
    allowance: number,
    limits?: CallLimits,
  ): Promise<{ accountId: string; plan: string; token: string; keyId: string }> {
    const plan = `plan-${randomBytes(4).toString('hex')}`;
    const untilMs = performance.now() + TRIED_FOR_MS;
    for (;;)
      try {
        await this.setPlan(plan, [{ name: 'calls', allowance, routes: BOTH_ROUTES }], limits);
        const accountId = await this.createAccount(plan);
        return { accountId, plan, ...(await this.createKey(accountId)) };
      } catch (error) {
        const mayPass = error instanceof Fault && error.kind === 'unavailable';
        if (!mayPass || performance.now() > untilMs) throw error;
        await delay(200);
      }
  }

  async setPlan(name: string, pools: Pool[], limits?: CallLimits): Promise<void> {
    await this.#call(this.#accounts, this.#accounts.setPlan, { name, pools, limits });
  }

  async createAccount(plan: string): Promise<string> {
    const { account } = await this.#call(this.#accounts, this.#accounts.createAccount, {
      id: '',
      name: 'Test',
      plan,
    });
    return account?.id ?? '';
  }

  async setAccountPlan(id: string, plan: string): Promise<void> {
    await this.#call(this.#accounts, this.#accounts.setAccountPlan, { id, plan });
  }

  async closeAccount(id: string): Promise<void> {
    await this.#call(this.#accounts, this.#accounts.closeAccount, { id });
  }

  async reopenAccount(id: string): Promise<void> {
    await this.#call(this.#accounts, this.#accounts.reopenAccount, { id });
  }

  async renameAccount(id: string, name: string): Promise<void> {
    await this.#call(this.#accounts, this.#accounts.renameAccount, { id, name });
  }

  /** Returns an account's name, plan and whether it is closed, and for each key, by its id, whether it is revoked. */
  async account(id: string): Promise<Record<string, string | boolean>> {
    const { account, keys } = await this.#call(this.#accounts, this.#accounts.getAccount, { id });
    if (!account) throw new Error(`there is no account ${id}`);
    return {
      name: account.name,
      plan: account.plan,
      isClosed: account.closedAtMs !== undefined,
      ...Object.fromEntries(keys.map((key) => [key.id, key.revokedAtMs !== undefined])),
    };
  }

  /** Returns how many changes the trail has about any of these ids, by method. */
  async changesAbout(ids: readonly string[]): Promise<Map<string, number>> {
    const found = new Map<string, AuditEntry>();
    for (const about of ids) {
      let after = '';
      do {
        const page = { operator: '', service: '', method: '', about, limit: 1_000, after };
        const request = { ...page, sinceMs: undefined, untilMs: undefined };
        const answer = await this.#call(this.#accounts, this.#accounts.listAudit, request);
        for (const entry of answer.entries) found.set(entry.id, entry);
        after = answer.next;
      } while (after !== '');
    }
    const changes = new Map<string, number>();
    for (const { method, counts } of found.values())
      changes.set(method, (changes.get(method) ?? 0) + (counts.calls ?? 1));
    return changes;
  }

  /** Sets the chief executive of a record. */
  async setCeo(id: string, ceo: string): Promise<void> {
    const override = { field: 'company.ceo', value: { company: { ceo } }, by: 'test', reason: 'a test' };
    const request = SetFieldsRequest.fromPartial({ settings: [{ id, override }], dryRun: false });
    const { results } = await this.#call(this.#catalog, this.#catalog.setFields, request);
    const outcome = results[0]?.outcome;
    if (outcome !== FieldOutcome.CHANGED) throw new Error(`the field was not set: ${outcome}`);
  }

  async ceoOf(id: string): Promise<string | undefined> {
    const { brand } = await this.#call(this.#catalog, this.#catalog.getBrand, { id, refusedLinks: false });
    return brand?.company?.ceo || undefined;
  }

  async createKey(
    accountId: string,
    { allowedOrigins = [], expiresAtMs, limits }: KeyOptions = {},
  ): Promise<{ token: string; keyId: string }> {
    const request = { accountId, label: 'test', allowedOrigins, expiresAtMs, limits };
    const { key, token } = await this.#call(this.#accounts, this.#accounts.createKey, request);
    return { token, keyId: key?.id ?? '' };
  }

  async revokeKey(keyId: string): Promise<void> {
    await this.#call(this.#accounts, this.#accounts.revokeKey, { keyId });
  }

  async usage(accountId: string): Promise<PoolUsage[]> {
    // Until metering has applied all usage, the figures may be too small.
    for (let asked = 1; ; asked++) {
      const { usage } = await this.#call(this.#metering, this.#metering.getUsage, { accountId, month: '' });
      if (usage?.complete || asked === MOST_ASKED) return usage?.pools ?? [];
    }
  }

  async putBrands(brands: Parameters<typeof Brand.fromPartial>[0][]): Promise<void> {
    const importId = randomBytes(4).toString('hex');
    const put = {
      source: 'test',
      importId,
      dryRun: false,
      onlyJoining: false,
      brands: brands.map((brand) => Brand.fromPartial(brand)),
    };
    const { refused } = await this.#call(this.#catalog, this.#catalog.putBrands, put);
    if (refused.length > 0) throw new Error(`refused: ${JSON.stringify(refused)}`);
    await this.#call(this.#catalog, this.#catalog.finishImport, { source: 'test', importId, prune: false });
  }

  /** Stores a logo in images, and returns its path. */
  async putLogo(file: Buffer): Promise<string> {
    const light = { $case: 'file', value: file } as const;
    const request = { kind: ImageKind.LOGO, light, darkFile: undefined, dryRun: false };
    const { big } = await this.#call(this.#images, this.#images.putImage, request);
    return big?.path ?? '';
  }

  #call<Request, Response>(
    client: object,
    method: Parameters<typeof callUnary<Request, Response>>[1],
    request: Request,
  ): Promise<Response> {
    return callUnary(client, method, request, this.#options);
  }

  close(): void {
    for (const client of [this.#accounts, this.#catalog, this.#metering, this.#images]) client.close();
  }
}
