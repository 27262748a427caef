import {
  type AccountsAdminServiceServer,
  createToken,
  type FindKeyRequest,
  tokenCheckKeyFrom,
  tokenSha256,
} from '@brand-data/contracts';
import { Fault, operatorCallOf, type Service, unary } from '@brand-data/runtime';
import { Binary } from 'mongodb';
import { requireLimits, requireText } from '../model/input.ts';
import {
  createKeyId,
  hashToken,
  type KeyDoc,
  keyToProto,
  requireExpiry,
  requireOrigins,
  requireOverlap,
  requireTokenSha256,
} from '../model/key.ts';
import type { Outbox } from '../storage/outbox.ts';
import type { Store } from '../storage/store.ts';

const LONGEST_LABEL = 100;

/** Returns the calls about accounts' keys. */
export function keyCalls(
  service: Service,
  { store, outbox, tokenHashKey }: { store: Store; outbox: Outbox; tokenHashKey: string },
) {
  const { accounts, keys } = store;
  const checkKey = tokenCheckKeyFrom(tokenHashKey);
  const newKey = () => {
    const token = createToken(checkKey);
    const tokenHash = new Binary(hashToken(tokenHashKey, tokenSha256(token)));
    return { _id: createKeyId(), tokenHash, createdAt: new Date(), token };
  };

  const foundKey = async (by: FindKeyRequest['by']): Promise<KeyDoc> => {
    if (by?.$case === 'keyId') return keys.get(by.value);
    if (by === undefined) throw new Fault('invalid_argument', 'give a token or the id of a key');
    const key = await keys.find(hashToken(tokenHashKey, requireTokenSha256(by.value)));
    if (key) return key;
    throw new Fault(
      'not_found',
      'no key of this installation has the token: it is mistyped, or of elsewhere',
    );
  };

  return {
    createKey: unary(
      service,
      async ({ accountId, label, allowedOrigins, expiresAtMs, ...request }, metadata) => {
        const { token, ...made } = newKey();
        const limits = requireLimits(request.limits);
        const key = {
          ...made,
          accountId,
          label: requireText('a label', label, LONGEST_LABEL),
          allowedOrigins: requireOrigins(allowedOrigins),
          ...(expiresAtMs !== undefined && {
            expiresAt: requireExpiry(expiresAtMs, made.createdAt.getTime()),
          }),
          ...(limits && { limits }),
        };
        const stored = await outbox.confirm(
          keys.create(key, operatorCallOf(metadata)),
          ({ _id }) => `its token was not shown and never will be: revoke ${_id} and create another`,
        );
        return { key: keyToProto(stored), token };
      },
    ),

    updateKey: unary(service, async ({ keyId, label, allowedOrigins }, metadata) => {
      const update = {
        ...(label !== undefined && { label: requireText('a label', label, LONGEST_LABEL) }),
        ...(allowedOrigins && { allowedOrigins: requireOrigins(allowedOrigins.origins) }),
      };
      if (Object.keys(update).length === 0)
        throw new Fault('invalid_argument', 'there is nothing to change: give a label or origins');
      const key = await outbox.confirm(keys.update(keyId, update, operatorCallOf(metadata)));
      return { key: keyToProto(key) };
    }),

    rotateKey: unary(service, async ({ keyId, overlapMs }, metadata) => {
      const overlap = requireOverlap(overlapMs);
      const { token, ...made } = newKey();
      const { key, replaced } = await outbox.confirm(
        keys.rotate(keyId, made, overlap, operatorCallOf(metadata)),
        ({ key: { _id } }) =>
          `the token of the new key ${_id} was not shown and never will be: rotate ${_id} again, before ${keyId} expires`,
      );
      return { key: keyToProto(key), token, replaced: keyToProto(replaced) };
    }),

    findKey: unary(service, async ({ by }) => ({ key: keyToProto(await foundKey(by)) })),

    listKeys: unary(service, async ({ accountId }) => {
      await accounts.get(accountId);
      const listed = await keys.list(accountId);
      return { keys: listed.map(keyToProto) };
    }),

    revokeKey: unary(service, async ({ keyId }, metadata) => {
      const key = await outbox.confirm(keys.revoke(keyId, new Date(), operatorCallOf(metadata)));
      return { key: keyToProto(key) };
    }),
  } satisfies Partial<AccountsAdminServiceServer>;
}
