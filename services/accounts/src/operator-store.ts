import { Fault, type OperatorCall } from '@brand-data/runtime';
import { Binary, type Collection } from 'mongodb';
import type { LinearizableReads } from './linearizable-reads.ts';
import type { OperatorDoc } from './operator.ts';
import { type RecordedChange, withDeadline } from './transactions.ts';

/** Two, so that one can replace the other. */
const MOST_OF_ONE = 2;
const MOST_CREDENTIALS = 200;
/** The list shows only this many revoked credentials, those that were revoked last, so that it has a bound. */
const MOST_REVOKED_LISTED = 200;
/** Changes of operators take the next number of this counter, so that of two concurrent changes one starts again. */
export const OPERATORS_COUNTER = 'operators';

/** The operators' credentials in the accounts database. Errors as those of Store. */
export async function openOperatorStore(
  operators: Collection<OperatorDoc>,
  { change, linearizable }: { change: RecordedChange; linearizable: LinearizableReads },
) {
  await operators.createIndex({ hash: 1 }, { unique: true });
  await operators.createIndex({ name: 1 });
  await operators.createIndex({ revokedAt: -1 });
  const notRevoked = { revokedAt: { $exists: false } };

  return {
    createOperator: (operator: OperatorDoc, by: OperatorCall): Promise<OperatorDoc> =>
      change({ by, method: 'CreateOperator', counter: OPERATORS_COUNTER }, async (session) => {
        const { _id, name, role } = operator;
        const open = await operators.find(notRevoked, { session }).toArray();
        const own = open.filter((each) => each.name === name);
        const other = own.find((each) => each.role !== role);
        if (other)
          throw new Fault(
            'failed_precondition',
            `${name} has the role ${other.role}: revoke its credentials before you give it another role`,
          );
        if (own.length >= MOST_OF_ONE)
          throw new Fault(
            'resource_exhausted',
            `${name} already has ${MOST_OF_ONE} credentials: revoke one first`,
          );
        if (open.length >= MOST_CREDENTIALS)
          throw new Fault(
            'resource_exhausted',
            `there are already ${MOST_CREDENTIALS} credentials: revoke one first`,
          );
        await operators.insertOne(operator, { session });
        return { result: operator, about: [name, _id], details: { credential: _id, role } };
      }),

    /** If a credential is revoked already, keeps the time of its first revocation. */
    revokeOperator: (
      name: string,
      credentialId: string,
      now: Date,
      by: OperatorCall,
    ): Promise<OperatorDoc[]> =>
      change({ by, method: 'RevokeOperator', counter: OPERATORS_COUNTER }, async (session) => {
        const filter = credentialId === '' ? { name, ...notRevoked } : { name, _id: credentialId };
        const found = await operators.find(filter, { session }).toArray();
        if (found.length === 0)
          throw new Fault(
            'not_found',
            credentialId === ''
              ? `${name} has no credential that could be revoked: bds operator list shows all`
              : 'the operator has no such credential: bds operator list shows all',
          );
        const ids = found.map(({ _id }) => _id);
        await operators.updateMany(
          { _id: { $in: ids }, ...notRevoked },
          { $set: { revokedAt: now } },
          { session },
        );
        return {
          result: found.map((operator) => ({ ...operator, revokedAt: operator.revokedAt ?? now })),
          about: [name, ...ids],
          details: { credentials: ids.join(', ') },
        };
      }),

    /** In the order of their creation. */
    listOperators: async (): Promise<OperatorDoc[]> => {
      const listed = await withDeadline(
        linearizable(async (session) => [
          ...(await operators.find(notRevoked, { session }).toArray()),
          ...(await operators
            .find({ revokedAt: { $gt: new Date(0) } }, { session })
            .sort({ revokedAt: -1 })
            .limit(MOST_REVOKED_LISTED)
            .toArray()),
        ]),
      );
      return listed.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
    },

    findOperator: async (hash: Buffer): Promise<OperatorDoc | undefined> =>
      (await withDeadline(
        linearizable((session) => operators.findOne({ hash: new Binary(hash) }, { session })),
      )) ?? undefined,
  };
}
